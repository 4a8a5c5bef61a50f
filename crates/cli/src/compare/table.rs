//! The comparison as tables, one for each primitive, type and operator.

use comfy_table::{CellAlignment, ContentArrangement, Table};

use super::rows::Row;

/// The tables' text.
pub fn render(rows: &[Row]) -> String {
    let mut text = String::new();
    let mut left: Vec<&Row> = rows.iter().collect();
    while let Some(first) = left.first().copied() {
        let (mut group, rest): (Vec<&Row>, Vec<&Row>) = left.into_iter().partition(|row| {
            (&row.primitive, &row.scalar, &row.operator) == (&first.primitive, &first.scalar, &first.operator)
        });
        left = rest;
        let operator = first.operator.as_deref().map(|o| format!(", {o}")).unwrap_or_default();
        text += &format!("\n{} of {}{operator}\n{}\n", first.primitive, first.scalar, table(&mut group));
    }
    for row in rows.iter().filter(|row| row.error.is_some()) {
        text += &format!(
            "\n{} of {} {} on {} {} ({}): {}\n",
            row.primitive,
            size(row.n),
            row.scalar,
            row.backend,
            row.device,
            row.api,
            row.error.as_deref().unwrap_or("")
        );
    }
    text
}

fn table(rows: &mut [&Row]) -> Table {
    // The fastest first, at each size.
    rows.sort_by(|a, b| {
        let time = |row: &Row| row.median_ms.unwrap_or(f64::INFINITY);
        a.n.cmp(&b.n).then(time(a).total_cmp(&time(b)))
    });
    let mut table = Table::new();
    table.load_style(comfy_table::presets::ASCII_MARKDOWN);
    if table.is_tty() {
        table.set_content_arrangement(ContentArrangement::Dynamic);
    }
    table.set_header([
        "n",
        "backend",
        "device",
        "api",
        "algorithm",
        "median",
        "batched",
        "Gelem/s",
        "GB/s",
        "of copy",
        "checked",
    ]);
    for row in rows.iter() {
        let dash = || "-".to_string();
        table.add_row([
            size(row.n),
            row.backend.clone(),
            row.device.clone(),
            row.api.clone(),
            row.algorithm.clone(),
            row.median_ms.map_or_else(dash, time),
            row.batched_ms.map_or_else(dash, time),
            row.gelem_s.map_or_else(dash, |x| format!("{x:.3}")),
            row.gb_s.map_or_else(dash, |x| format!("{x:.1}")),
            row.copy_fraction.map_or_else(dash, |x| format!("{:.0}%", x * 100.0)),
            match (row.verified, &row.error) {
                (Some(true), _) => "yes".into(),
                (None, _) => dash(),
                (Some(false), _) => "NO".into(),
            },
        ]);
    }
    for column in [0, 5, 6, 7, 8, 9] {
        if let Some(column) = table.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table
}

/// `2^20` where it is a power of two, the number where not.
pub fn size(n: u64) -> String {
    if n >= 1024 && n.is_power_of_two() { format!("2^{}", n.trailing_zeros()) } else { n.to_string() }
}

fn time(ms: f64) -> String {
    if ms < 1.0 { format!("{:.1} us", ms * 1000.0) } else { format!("{ms:.2} ms") }
}
