//! Numbers as a reader wants them.

/// A number with three digits that mean something.
pub fn short(x: f64) -> String {
    match x.abs() {
        a if (99.95..1e6).contains(&a) => format!("{x:.0}"),
        a if (9.995..1e6).contains(&a) => format!("{x:.1}"),
        a if (0.995..1e6).contains(&a) => format!("{x:.2}"),
        a if (0.001..1e6).contains(&a) => format!("{x:.3}"),
        _ => format!("{x:.2e}"),
    }
}

/// Milliseconds, in the unit that suits them.
pub fn time(ms: f64) -> String {
    match ms {
        ms if ms < 1.0 => format!("{} µs", short(ms * 1e3)),
        ms if ms < 1e3 => format!("{} ms", short(ms)),
        ms => format!("{} s", short(ms / 1e3)),
    }
}

/// Milliseconds as an axis has them: round.
pub fn tick_time(ms: f64) -> String {
    let (x, unit) = match ms {
        ms if ms < 0.999 => (ms * 1e3, "µs"),
        ms if ms < 999.0 => (ms, "ms"),
        ms => (ms / 1e3, "s"),
    };
    format!("{} {unit}", trimmed(x))
}

/// Three digits behind the point, less the noughts at their end.
pub fn trimmed(x: f64) -> String {
    let text = format!("{x:.3}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// A number with a unit's prefix: 10 M, 1 G.
pub fn prefixed(x: f64) -> String {
    let prefixes = [(1e12, " T"), (1e9, " G"), (1e6, " M"), (1e3, " k")];
    let (unit, prefix) = prefixes.into_iter().find(|(unit, _)| x >= unit * 0.999).unwrap_or((1.0, ""));
    trimmed(x / unit) + prefix
}

pub fn percent(fraction: f64) -> String {
    format!("{:.0}%", fraction * 100.0)
}

/// 2 to a power, as it is printed.
pub fn power(exponent: i64) -> String {
    const DIGITS: [char; 10] = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
    let raised = exponent.to_string();
    let raised = raised.chars().map(|c| c.to_digit(10).map_or('⁻', |digit| DIGITS[digit as usize]));
    format!("2{}", raised.collect::<String>())
}

/// How many elements: a power of two where it is one and large.
pub fn size(n: u64) -> String {
    if n >= 1024 && n.is_power_of_two() { power(i64::from(n.trailing_zeros())) } else { n.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        assert_eq!([0.01234, 1.234, 12.34, 376.2, 1109.6].map(short), ["0.012", "1.23", "12.3", "376", "1110"]);
        assert_eq!([short(1e-9), short(0.0), short(3e9)], ["1.00e-9", "0.00e0", "3.00e9"]);
        assert_eq!([0.0052, 7.46, 12_270.0].map(time), ["5.20 µs", "7.46 ms", "12.3 s"]);
        assert_eq!([0.0002, 0.05, 1.0, 20.0, 5000.0].map(tick_time), ["0.2 µs", "50 µs", "1 ms", "20 ms", "5 s"]);
        assert_eq!([1e7, 1e9, 5e11, 2e12, 200.0, 0.5].map(prefixed), ["10 M", "1 G", "500 G", "2 T", "200", "0.5"]);
        assert_eq!([size(1 << 20), size(1000), size(512), power(-1)], ["2²⁰", "1000", "512", "2⁻¹"]);
    }
}
