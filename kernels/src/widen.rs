//! Packs of one, two and four elements from one text: lines for each lane of a pack.

/// The lanes of a pack, as vectors name them.
const LANES: [&str; 4] = ["x", "y", "z", "w"];

/// Writes a text for packs of `width` elements. The line below one that says `// each lane`, or some of them, is there for each of those
/// lanes: with `.LANE` the element, which is the pack itself where it is of one, and `LANE` its number. `TREE(v)` combines all of them in
/// pairs.
pub(crate) fn widen(text: &str, width: u32) -> String {
    let lanes = &LANES[..width as usize];
    let element = |lane: &str| if width == 1 { String::new() } else { format!(".{lane}") };
    let (mut wide, mut lines) = (String::with_capacity(2 * text.len()), text.lines());
    while let Some(line) = lines.next() {
        let which = match line.trim() {
            "// each lane" => 0..lanes.len(),
            "// each lane but the first" => 1..lanes.len(),
            "// each lane but the last" => 0..lanes.len() - 1,
            "// the first lane" => 0..1,
            "// the last lane" => lanes.len() - 1..lanes.len(),
            _ => {
                wide.push_str(&line.replace("TREE(v)", &tree(lanes, &|lane| format!("v{}", element(lane)))));
                wide.push('\n');
                continue;
            }
        };
        let repeated = lines.next().unwrap_or_default();
        for lane in which {
            let own = repeated.replace(".LANE", &element(lanes[lane])).replace("LANE", &format!("{lane}u"));
            wide.push_str(&own);
            wide.push('\n');
        }
    }
    wide
}

/// The halves' combinations, combined.
fn tree(lanes: &[&str], element: &dyn Fn(&str) -> String) -> String {
    match lanes {
        [lane] => element(lane),
        _ => {
            let (first, second) = lanes.split_at(lanes.len() / 2);
            format!("combine({}, {})", tree(first, element), tree(second, element))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::widen;

    #[test]
    fn a_line_for_each_lane() {
        let text = "a;\n// each lane but the last\nv.LANE = f(LANE);\n// the last lane\ng(v.LANE);\nreturn TREE(v);\n";
        assert_eq!(widen(text, 1), "a;\ng(v);\nreturn v;\n");
        assert_eq!(widen(text, 2), "a;\nv.x = f(0u);\ng(v.y);\nreturn combine(v.x, v.y);\n");
        assert!(widen(text, 4).ends_with("g(v.w);\nreturn combine(combine(v.x, v.y), combine(v.z, v.w));\n"));
    }
}
