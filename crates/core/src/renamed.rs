//! Names that files of older versions have.

/// What such a name, or the beginning of one, is called now.
const RENAMED: [(&str, &str); 2] = [("lookahead_registers", "lookback_pipelined"), ("by_key_", "reduce_by_key_")];

/// The name that an algorithm or a number of tuning has now, of one that a file has.
pub fn renamed(name: &str) -> String {
    let of = |(old, new): &(&str, &str)| name.strip_prefix(old).map(|rest| format!("{new}{rest}"));
    RENAMED.iter().find_map(of).unwrap_or_else(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::renamed;

    #[test]
    fn old_names_are_known_and_new_ones_stay() {
        assert_eq!(renamed("lookahead_registers"), "lookback_pipelined");
        assert_eq!(renamed("lookahead_registers_from"), "lookback_pipelined_from");
        assert_eq!(renamed("by_key_words"), "reduce_by_key_words");
        for name in ["lookahead", "lookback", "reduce_by_key_words", "sort_keys"] {
            assert_eq!(renamed(name), name);
        }
    }
}
