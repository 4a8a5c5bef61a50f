//! Keys, and the unsigned integers that order them, in each language. No language needs 64-bit integers for them.

use std::fmt::Write;

use trifold_core::{KeyField, KeyImage, Order, ScalarKind};

use crate::dialect::Dialect;

/// The whole text: `StoredKey`, what memory holds; `Key`, its image in registers; and the functions of both.
pub(crate) fn emit(image: &KeyImage, places: u32, dialect: Dialect) -> String {
    let keys = Keys { image, places, dialect, words: image.words() as usize };
    let sections = [
        keys.types(),
        keys.ordered(),
        keys.restored(),
        keys.last(),
        keys.zero(),
        keys.before(),
        keys.word(),
        keys.digit(),
        keys.with_word(),
    ];
    sections.join("\n")
}

/// The type of what values are moved by. WGSL has no type of less than a word, and loads and stores parts of words.
pub(crate) fn emit_stored(name: &str, bytes: u32, dialect: Dialect) -> String {
    match dialect {
        Dialect::Wgsl => format!("alias {name} = u32;\n\n"),
        _ => format!("typedef {} {name};\n\n", stored(bytes)),
    }
}

/// The types `StoredValue`, what memory holds of what values are moved by, and `Value`, the same in registers; `VALUE_SIZE`, its 32-bit
/// words; and what a key's place is as one.
pub(crate) fn emit_value(bytes: u32, dialect: Dialect) -> String {
    let size = bytes.div_ceil(4);
    let zeros = ", 0u".repeat(size as usize - 1);
    match (dialect, size) {
        (Dialect::Wgsl, 1) => "alias StoredValue = u32;\nalias Value = u32;\nconst VALUE_SIZE: u32 = 1u;\n\
             fn value_of_place(place: u32) -> Value { return place; }\n\
             fn word_of_value(value: Value, word: u32) -> u32 { return value; }\n\
             fn value_with_word(value: Value, word: u32, changed: u32) -> Value { return changed; }\n\n"
            .into(),
        (Dialect::Wgsl, _) => format!(
            "alias StoredValue = vec{size}<u32>;\nalias Value = StoredValue;\nconst VALUE_SIZE: u32 = {size}u;\n\
             fn value_of_place(place: u32) -> Value {{ return Value(place{zeros}); }}\n\
             fn word_of_value(value: Value, word: u32) -> u32 {{ return value[word]; }}\n\
             fn value_with_word(value: Value, word: u32, changed: u32) -> Value {{\n  \
               var made = value;\n  made[word] = changed;\n  return made;\n}}\n\n"
        ),
        (_, 1) => format!(
            "typedef {} StoredValue;\ntypedef u32 Value;\n#define VALUE_SIZE 1u\n#define value_of_place(place) (place)\n\n",
            stored(bytes)
        ),
        (Dialect::Cuda, _) => format!(
            "typedef uint{size} StoredValue;\ntypedef StoredValue Value;\n#define VALUE_SIZE {size}u\n\
             #define value_of_place(place) (StoredValue{{place{zeros}}})\n\n"
        ),
        _ => format!(
            "typedef uint{size} StoredValue;\ntypedef StoredValue Value;\n#define VALUE_SIZE {size}u\n\
             #define value_of_place(place) ((uint{size})(place{zeros}))\n\n"
        ),
    }
}

/// C: the unsigned integer of up to four bytes.
fn stored(bytes: u32) -> &'static str {
    ["u8", "u16", "u32"][(bytes / 2) as usize]
}

struct Keys<'a> {
    image: &'a KeyImage,
    /// Places of eight bits that digits are taken of. In one behind the last bits all digits are zeros.
    places: u32,
    dialect: Dialect,
    words: usize,
}

impl Keys<'_> {
    fn is_wgsl(&self) -> bool {
        self.dialect == Dialect::Wgsl
    }

    fn types(&self) -> String {
        let width = self.image.width();
        let (key, stored) = match (self.dialect, self.words) {
            (Dialect::Wgsl, 1) => ("u32".to_string(), "u32"),
            (Dialect::Wgsl, 3) => ("vec3<u32>".to_string(), "array<u32, 3>"),
            (Dialect::Wgsl, words) => (format!("vec{words}<u32>"), "Key"),
            (_, 1) => ("u32".to_string(), stored(self.image.bytes)),
            (_, 3) => ("struct { u32 x, y, z; }".to_string(), "Key"),
            (_, words) => (format!("uint{words}"), "Key"),
        };
        match self.dialect {
            Dialect::Wgsl => format!(
                "// Bits that are compared.\nconst KEY_WIDTH: u32 = {width}u;\nalias Key = {key};\nalias StoredKey = {stored};\n"
            ),
            _ => format!(
                "// Bits that are compared.\n#define KEY_WIDTH {width}u\ntypedef {key} Key;\ntypedef {stored} StoredKey;\n"
            ),
        }
    }

    /// A function. `arguments` are types and names.
    fn function(&self, comment: &str, result: &str, name: &str, arguments: &[(&str, &str)], body: &str) -> String {
        let list = |of: &dyn Fn(&(&str, &str)) -> String| arguments.iter().map(of).collect::<Vec<_>>().join(", ");
        let head = match self.is_wgsl() {
            true => format!("fn {name}({}) -> {result}", list(&|(ty, name)| format!("{name}: {ty}"))),
            false => {
                let qualifier = self.dialect.qualifier();
                format!("{qualifier}{result} {name}({})", list(&|(ty, name)| format!("{ty} {name}")))
            }
        };
        let comment = if comment.is_empty() { String::new() } else { format!("// {comment}\n") };
        format!("{comment}{head} {{\n{body}}}\n")
    }

    fn choose(&self, condition: &str, yes: &str, no: &str) -> String {
        match self.dialect {
            Dialect::Wgsl => format!("select({no}, {yes}, {condition})"),
            // PoCL's compiler takes branches between barriers badly.
            Dialect::OpenCl => format!("select({no}, {yes}, (u32)({condition}))"),
            Dialect::Cuda => format!("({condition} ? {yes} : {no})"),
        }
    }

    fn constant(&self, name: &str, value: &str) -> String {
        if self.is_wgsl() { format!("  let {name} = {value};\n") } else { format!("  const u32 {name} = {value};\n") }
    }

    /// A word of a value of type `Key`.
    fn word_of(&self, key: &str, word: usize) -> String {
        if self.words == 1 { key.into() } else { format!("{key}.{}", ["x", "y", "z", "w"][word]) }
    }

    /// A word of a value of type `StoredKey`.
    fn word_of_stored(&self, key: &str, word: usize) -> String {
        if self.is_wgsl() && self.words == 3 { format!("{key}[{word}]") } else { self.word_of(key, word) }
    }

    /// Returns a value of these words.
    fn returned(&self, ty: &str, words: &[String]) -> String {
        match (self.dialect, words) {
            (_, [word]) => format!("  return {word};\n"),
            (Dialect::Wgsl, words) => format!("  return {ty}({});\n", words.join(", ")),
            (_, words) => {
                let set =
                    words.iter().enumerate().map(|(i, word)| format!("  made.{} = {word};\n", ["x", "y", "z", "w"][i]));
                format!("  {ty} made;\n{}  return made;\n", set.collect::<String>())
            }
        }
    }

    fn ordered(&self) -> String {
        self.function(
            "The key as an unsigned number that orders it among the others, its lowest word first.",
            "Key",
            "key_ordered",
            &[("StoredKey", "key")],
            &self.converted(true),
        )
    }

    fn restored(&self) -> String {
        self.function("", "StoredKey", "key_restored", &[("Key", "ordered")], &self.converted(false))
    }

    /// The body of a function from a key to its image, or back: each field is taken out, flipped, and put to its place.
    fn converted(&self, encodes: bool) -> String {
        let mut body = String::new();
        for word in 0..self.words {
            let value = if encodes { self.word_of_stored("key", word) } else { self.word_of("ordered", word) };
            body += &self.constant(&format!("w{word}"), &value);
        }
        let mut made = vec![vec![]; self.words];
        for (i, field) in self.image.fields.iter().enumerate() {
            let (from, to) = if encodes { (field.from, field.to) } else { (field.to, field.from) };
            let parts = parts(field);
            for (part, bits) in parts.iter().enumerate() {
                body += &self.constant(&format!("f{i}_{part}"), &taken("w", from + 32 * part as u32, *bits));
            }
            let flips = self.flips(field, i, &parts, encodes);
            for (part, bits) in parts.iter().enumerate() {
                put(&mut made, to + 32 * part as u32, *bits, &flipped(&format!("f{i}_{part}"), &flips[part]));
            }
        }
        let words: Vec<String> = made.iter().map(|parts| parts.join(" | ")).collect();
        body + &self.returned(if encodes { "Key" } else { "StoredKey" }, &words)
    }

    /// What changes in each part of a field: integers' signs, so that they count up; of negative floats all bits, so that they
    /// count down (IEEE 754 totalOrder). Descending, the others.
    fn flips(&self, field: &KeyField, i: usize, parts: &[u32], encodes: bool) -> Vec<String> {
        let Some(order) = field.order else { return vec![String::new(); parts.len()] };
        let descends = order == Order::Descending;
        let top = parts.len() - 1;
        let high = format!("(f{i}_{top} >> {}u)", parts[top] - 1);
        // Of an image, the sign has been changed already: unless the order is descending.
        let negative = format!("{high} == {}u", u32::from(encodes || descends));
        let flip = |(part, bits): (usize, &u32)| {
            let all = mask(*bits);
            let sign = if part == top { 1 << (bits - 1) } else { 0 };
            let turned = |flips: u32| if descends { !flips & all } else { flips };
            let hex = |flips: u32| format!("{flips:#x}u");
            match field.scalar.kind() {
                ScalarKind::Float => self.choose(&negative, &hex(turned(all)), &hex(turned(sign))),
                kind => match turned(if kind == ScalarKind::Signed { sign } else { 0 }) {
                    0 => String::new(),
                    flips => hex(flips),
                },
            }
        };
        parts.iter().enumerate().map(flip).collect()
    }

    fn last(&self) -> String {
        let body = self.returned("Key", &vec!["0xffffffffu".to_string(); self.words]);
        self.function(
            "Behind this one no ordered key sorts: all bits of its digits are set.",
            "Key",
            "ordered_last",
            &[],
            &body,
        )
    }

    fn zero(&self) -> String {
        let body = match self.dialect {
            Dialect::Wgsl => "  return StoredKey();\n",
            Dialect::Cuda => "  return StoredKey{};\n",
            // Three words are a struct.
            _ if self.words == 3 => "  const StoredKey zero = {0};\n  return zero;\n",
            _ => "  return (StoredKey)(0);\n",
        };
        self.function("What stands where there is no key.", "StoredKey", "key_zero", &[], body)
    }

    fn before(&self) -> String {
        let bits = &self.image.bits;
        let compared = (0..self.words as u32).filter_map(|word| {
            let (from, to) = (bits.start.max(32 * word), bits.end.min(32 * (word + 1)));
            (from < to).then(|| (word as usize, mask(to - from) << (from - 32 * word)))
        });
        let expression = compared.fold(String::new(), |lower, (word, mask)| {
            let [a, b] = ["a", "b"].map(|key| {
                let of = self.word_of(key, word);
                if mask == u32::MAX { of } else { format!("({of} & {mask:#x}u)") }
            });
            if lower.is_empty() { format!("{a} < {b}") } else { format!("{a} < {b} || ({a} == {b} && ({lower}))") }
        });
        self.function(
            "Whether an ordered key sorts before another.",
            "bool",
            "ordered_before",
            &[("Key", "a"), ("Key", "b")],
            &format!("  return {expression};\n"),
        )
    }

    fn digit(&self) -> String {
        let (from, width) = (self.image.bits.start, self.image.width());
        let last = self.choose(&format!("place == {}u", width / 8), &format!("{}u", mask(width % 8)), "255u");
        let digit = if width.is_multiple_of(8) { "255u".to_string() } else { last };
        // A shift is of fewer bits than a word has.
        let spare = self.places > width.div_ceil(8);
        let counted = if spare { format!("min(8u * place, {}u)", width - 1) } else { "8u * place".to_string() };
        let digit = if spare { self.choose(&format!("place < {}u", width.div_ceil(8)), &digit, "0u") } else { digit };
        let at = if from == 0 { counted } else { format!("{from}u + {counted}") };
        let body = match self.words {
            1 => format!("  return (ordered >> ({at})) & {digit};\n"),
            _ => {
                let mut body = self.constant("bit", &at);
                let low = "(key_word(ordered, bit / 32u) >> (bit % 32u))";
                let bits = match from.is_multiple_of(8) {
                    true => low.to_string(),
                    // A digit may have bits of two words.
                    false => {
                        let high = "key_word(ordered, bit / 32u + 1u) << ((32u - bit % 32u) % 32u)";
                        format!("({low} | {})", self.choose("(bit % 32u > 24u)", &format!("({high})"), "0u"))
                    }
                };
                let _ = writeln!(body, "  return {bits} & {digit};");
                body
            }
        };
        let ordered = self.function(
            "The digit at a place of an ordered key.",
            "u32",
            "ordered_digit",
            &[("Key", "ordered"), ("u32", "place")],
            &body,
        );
        let key = self.function(
            "The digit at a place of the key, such that unsigned digits order the keys.",
            "u32",
            "key_digit",
            &[("StoredKey", "key"), ("u32", "place")],
            "  return ordered_digit(key_ordered(key), place);\n",
        );
        format!("{ordered}\n{key}")
    }

    fn word(&self) -> String {
        let chosen = (1..self.words).fold(self.word_of("key", 0), |lower, word| {
            self.choose(&format!("word == {word}u"), &self.word_of("key", word), &lower)
        });
        self.function("", "u32", "key_word", &[("Key", "key"), ("u32", "word")], &format!("  return {chosen};\n"))
    }

    fn with_word(&self) -> String {
        let words = (0..self.words).map(|word| match self.words {
            1 => "value".to_string(),
            _ => self.choose(&format!("word == {word}u"), "value", &self.word_of("key", word)),
        });
        let body = self.returned("Key", &words.collect::<Vec<_>>());
        self.function("", "Key", "key_with_word", &[("Key", "key"), ("u32", "word"), ("u32", "value")], &body)
    }
}

/// The bits of a field's words, the lowest first.
fn parts(field: &KeyField) -> Vec<u32> {
    let bits = 8 * field.scalar.bytes();
    (0..bits).step_by(32).map(|from| 32.min(bits - from)).collect()
}

fn mask(bits: u32) -> u32 {
    if bits == 0 { 0 } else { u32::MAX >> (32 - bits) }
}

/// `bits` bits from bit `at` of the words of this name on.
fn taken(words: &str, at: u32, bits: u32) -> String {
    let (word, shift) = (at / 32, at % 32);
    let low = if shift == 0 { format!("{words}{word}") } else { format!("({words}{word} >> {shift}u)") };
    let all = if shift + bits > 32 { format!("({low} | ({words}{} << {}u))", word + 1, 32 - shift) } else { low };
    if bits == 32 || shift + bits == 32 { all } else { format!("{all} & {:#x}u", mask(bits)) }
}

/// Adds a value of `bits` bits to the words, from bit `at` on.
fn put(words: &mut [Vec<String>], at: u32, bits: u32, value: &str) {
    let (word, shift) = ((at / 32) as usize, at % 32);
    words[word].push(if shift == 0 { value.to_string() } else { format!("({value} << {shift}u)") });
    if shift + bits > 32 {
        words[word + 1].push(format!("({value} >> {}u)", 32 - shift));
    }
}

fn flipped(value: &str, flips: &str) -> String {
    if flips.is_empty() { value.to_string() } else { format!("({value} ^ {flips})") }
}
