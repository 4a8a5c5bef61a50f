//! The element type and its words, in each language.

use std::fmt::Write;

use naga::TypeInner;
use naga::proc::Layouter;
use trifold_core::wgsl::is_word;
use trifold_core::{ElementType, Error, Field, Result, Scalar};

use crate::c;
use crate::dialect::Dialect;

/// The whole text: the type, its words, and the functions between them.
pub(crate) fn emit(element: &ElementType, dialect: Dialect) -> Result<String> {
    check(element)?;
    Ok(format!("{}\n{}", declaration(element, dialect, "T"), words(element, dialect)))
}

/// The element type itself, under the name that kernels have for it.
pub(crate) fn declaration(element: &ElementType, dialect: Dialect, name: &str) -> String {
    match (element, dialect) {
        (ElementType::Scalar(scalar), Dialect::Wgsl) => format!("alias {name} = {};\n", scalar.name()),
        (ElementType::Scalar(scalar), _) => format!("typedef {} {name};\n", scalar.name()),
        (ElementType::Struct { fields, .. }, Dialect::Wgsl) => {
            let fields: String = fields.iter().map(|f| format!("    {}: {},\n", f.name, f.scalar.name())).collect();
            format!("struct {name} {{\n{fields}}}\n")
        }
        (ElementType::Struct { fields, .. }, _) => {
            let fields = fields.iter().enumerate();
            let fields: String =
                fields.map(|(i, f)| format!("    {} {};\n", f.scalar.name(), c::field_name(f.name, i))).collect();
            format!("typedef struct {{\n{fields}}} {name};\n")
        }
    }
}

/// The element type in WGSL as a caller's text knows it: a struct by its own name, and as `T`.
pub(crate) fn declaration_by_name(element: &ElementType) -> String {
    match element {
        ElementType::Struct { name, .. } if *name != "T" => {
            format!("{}alias T = {name};\n", declaration(element, Dialect::Wgsl, name))
        }
        _ => declaration(element, Dialect::Wgsl, "T"),
    }
}

/// `Words`, and the two functions between an element and its words.
fn words(element: &ElementType, dialect: Dialect) -> String {
    let count = element.words();
    let wgsl = dialect == Dialect::Wgsl;
    let function = |result: &str, name: &str, ty: &str, argument: &str, local: &str, body: &str| {
        let (head, variable) = match wgsl {
            true => (format!("fn {name}({argument}: {ty}) -> {result}"), format!("var {local}: {result};")),
            false => (format!("{}{result} {name}({ty} {argument})", dialect.qualifier()), format!("{result} {local};")),
        };
        format!("{head} {{\n    {variable}\n{body}    return {local};\n}}\n")
    };

    let (mut to, mut from, mut word) = (String::new(), String::new(), 0);
    for (place, scalar) in places(element, dialect) {
        let bits = dialect.bits_of(scalar, &place);
        let words = scalar.bytes().div_ceil(4);
        let assembled = if words == 1 {
            let _ = writeln!(to, "    words.w[{word}] = {bits};");
            format!("words.w[{word}]")
        } else {
            let (low, high) = (word, word + 1);
            if wgsl {
                let _ = writeln!(to, "    words.w[{low}] = u32({bits});");
                let _ = writeln!(to, "    words.w[{high}] = u32({bits} >> 32u);");
            } else {
                let _ = writeln!(to, "    words.w[{low}] = (u32){bits};");
                let _ = writeln!(to, "    words.w[{high}] = (u32)({bits} >> 32);");
            }
            match wgsl {
                true => format!("u64(words.w[{low}]) | (u64(words.w[{high}]) << 32u)"),
                false => format!("(u64)words.w[{low}] | ((u64)words.w[{high}] << 32)"),
            }
        };
        let _ = writeln!(from, "    {place} = {};", dialect.value_of(scalar, &assembled));
        word += words;
    }

    let types = match dialect {
        Dialect::Wgsl => format!("const ELEMENT_WORDS: u32 = {count}u;\nstruct Words {{ w: array<u32, {count}>, }}\n"),
        _ => format!("#define ELEMENT_WORDS {count}u\ntypedef struct {{ u32 w[{count}]; }} Words;\n"),
    };
    let to = function("Words", "element_to_words", "T", "v", "words", &to);
    let from = function("T", "element_from_words", "Words", "words", "v", &from);
    format!("{types}\n{to}\n{from}")
}

/// Whether two items have the same bits.
pub(crate) fn same(element: &ElementType, dialect: Dialect) -> String {
    let same = places(element, dialect).into_iter().map(|(place, scalar)| {
        let [a, b] = ["a", "b"].map(|item| dialect.bits_of(scalar, &place.replacen('v', item, 1)));
        format!("{a} == {b}")
    });
    let same = same.collect::<Vec<_>>().join(" && ");
    match dialect {
        Dialect::Wgsl => format!("fn same_item(a: Item, b: Item) -> bool {{ return {same}; }}\n"),
        _ => format!("{}bool same_item(Item a, Item b) {{ return {same}; }}\n", dialect.qualifier()),
    }
}

/// The words of an element, as expressions of the value's name.
pub(crate) fn words_of(element: &ElementType, value: &str, dialect: Dialect) -> Vec<String> {
    let word = |bits: String| match dialect {
        Dialect::Wgsl => format!("u32({bits})"),
        _ => format!("(u32)({bits})"),
    };
    let of = |(place, scalar): (String, Scalar)| {
        let bits = dialect.bits_of(scalar, &place.replacen('v', value, 1));
        let high = match dialect {
            Dialect::Wgsl => format!("{bits} >> 32u"),
            _ => format!("{bits} >> 32"),
        };
        match scalar.bytes() {
            8 => vec![word(bits), word(high)],
            _ => vec![bits],
        }
    };
    places(element, dialect).into_iter().flat_map(of).collect()
}

/// Where the scalars of an element `v` are.
fn places(element: &ElementType, dialect: Dialect) -> Vec<(String, Scalar)> {
    let field = |(i, f): (usize, &Field)| match dialect {
        Dialect::Wgsl => (format!("v.{}", f.name), f.scalar),
        _ => (format!("v.{}", c::field_name(f.name, i)), f.scalar),
    };
    match element {
        ElementType::Scalar(scalar) => vec![("v".to_string(), *scalar)],
        ElementType::Struct { fields, .. } => fields.iter().enumerate().map(field).collect(),
    }
}

/// Checks a struct's names, and that WGSL lays it out as Rust does.
pub(crate) fn check(element: &ElementType) -> Result<()> {
    let ElementType::Struct { name, fields, bytes } = element else { return Ok(()) };
    let refuse = |message: String| Err(Error::Operator { name: name.to_string(), message });
    if fields.is_empty() {
        return refuse("the struct has no fields; give it one".into());
    }
    for (i, field) in fields.iter().enumerate() {
        if naga::keywords::wgsl::RESERVED.contains(&field.name) || !field.name.chars().all(is_word) {
            return refuse(format!("the field name `{}` is no name in WGSL; rename it", field.name));
        }
        if fields[..i].iter().any(|other| other.name == field.name) {
            return refuse(format!("two fields are named `{}`; rename one", field.name));
        }
    }

    let text = declaration_by_name(element);
    let module = match naga::front::wgsl::parse_str(&text) {
        Ok(module) => module,
        Err(error) => return refuse(error.emit_to_string_with_path(&text, name)),
    };
    let mut layouter = Layouter::default();
    if let Err(error) = layouter.update(module.to_ctx()) {
        return refuse(error.to_string());
    }
    let found = module.types.iter().find(|(_, ty)| ty.name.as_deref() == Some(name));
    let Some((handle, naga::Type { inner: TypeInner::Struct { members, .. }, .. })) = found else {
        return refuse("WGSL does not see a struct here".into());
    };
    let mut occupied = 0;
    for (Field { name: field, scalar, offset, .. }, member) in fields.iter().zip(members) {
        if member.offset != *offset {
            return refuse(format!(
                "the field `{field}` is at byte {offset} in Rust and at byte {} in WGSL; declare the struct with \
                 `element!`, or make it #[repr(C)] with its fields ordered from large to small",
                member.offset
            ));
        }
        if occupied != *offset {
            return refuse(format!(
                "{} bytes of padding stand before the field `{field}`; add a field there",
                offset - occupied
            ));
        }
        occupied = offset + scalar.bytes();
    }
    let stride = layouter[handle].to_stride();
    if stride != *bytes {
        return refuse(format!(
            "the struct takes {bytes} bytes in Rust and {stride} in WGSL; declare it with `element!`, or make it \
             #[repr(C)] without alignment or packing"
        ));
    }
    if occupied != *bytes {
        let (padding, last) = (bytes - occupied, fields[fields.len() - 1].name);
        return refuse(format!("{padding} bytes of padding follow the last field, `{last}`; add a field there"));
    }
    Ok(())
}
