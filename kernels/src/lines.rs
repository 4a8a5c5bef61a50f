//! Lines that are there as often as a kernel's key says: for each lane of a pack, or with a constant alone. So packs of one, two and four
//! elements come from one text.

/// The lanes of a pack, as vectors name them.
const LANES: [&str; 4] = ["x", "y", "z", "w"];

/// Writes a text for packs of `width` elements. The line below one that says `// each lane`, or some of them, is there for each of those
/// lanes. In it `.LANE` is the element, and `LANE` its number. A pack of one is the element itself. `TREE(v)` combines all of them in
/// pairs. The line below `// with NAME` is there if that constant is one of the kernel's and not 0.
pub(crate) fn repeat(text: &str, width: u32, constant: &impl Fn(&str) -> Option<u32>) -> String {
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
            other => match other.strip_prefix("// with ").filter(|name| name.chars().all(is_of_constants)) {
                Some(name) => 0..usize::from(constant(name).is_some_and(|value| value != 0)),
                None => {
                    wide.push_str(&line.replace("TREE(v)", &tree(lanes, &|lane| format!("v{}", element(lane)))));
                    wide.push('\n');
                    continue;
                }
            },
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

fn is_of_constants(c: char) -> bool {
    c.is_ascii_uppercase() || c == '_'
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
    use super::repeat;

    #[test]
    fn a_line_for_each_lane() {
        let text = "a;\n// each lane but the last\nv.LANE = f(LANE);\n// the last lane\ng(v.LANE);\nreturn TREE(v);\n";
        let widen = |text, width| repeat(text, width, &|_| None);
        assert_eq!(widen(text, 1), "a;\ng(v);\nreturn v;\n");
        assert_eq!(widen(text, 2), "a;\nv.x = f(0u);\ng(v.y);\nreturn combine(v.x, v.y);\n");
        assert!(widen(text, 4).ends_with("g(v.w);\nreturn combine(combine(v.x, v.y), combine(v.z, v.w));\n"));
    }

    #[test]
    fn a_line_with_a_constant_alone() {
        let text = "a;\n  // with WORDS\n  move(a);\n// with words\nb;\n";
        let of = |words: Option<u32>| repeat(text, 1, &|name| words.filter(|_| name == "WORDS"));
        assert_eq!(of(Some(3)), "a;\n  move(a);\n// with words\nb;\n");
        assert_eq!([of(Some(0)), of(None)], ["a;\n// with words\nb;\n"; 2]);
    }
}
