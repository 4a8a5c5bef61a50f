//! Functions that a guarded text calls. Each is defined once, and only where it is called.

use naga::{BinaryOperator, Scalar, ScalarKind, VectorSize};

use crate::program::scalar_name;

/// The helpers of one text, in the order of their first use.
#[derive(Default)]
pub(super) struct Helpers {
    prefix: String,
    defined: Vec<(String, String)>,
}

/// A scalar or a vector of so many.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Components {
    pub size: Option<VectorSize>,
    pub scalar: Scalar,
}

impl Components {
    /// As WGSL writes it.
    pub fn name(self) -> String {
        let scalar = scalar_name(self.scalar);
        self.size.map_or(scalar.clone(), |size| format!("vec{}<{scalar}>", size as u8))
    }

    pub fn word(self) -> String {
        self.name().replace('<', "_").replace('>', "")
    }
}

impl Helpers {
    /// Of a text whose main function is called `prefix`.
    pub fn of(prefix: &str) -> Helpers {
        Helpers { prefix: prefix.into(), defined: vec![] }
    }

    /// Their text.
    pub fn text(self) -> String {
        self.defined.into_iter().map(|(_, text)| text).collect()
    }

    pub fn define(&mut self, name: String, text: impl FnOnce(&str) -> String) -> String {
        let name = format!("wgsl_{}_{name}", self.prefix);
        if !self.defined.iter().any(|(known, _)| *known == name) {
            let text = text(&name);
            self.defined.push((name.clone(), text));
        }
        name
    }

    /// An index no greater than the last.
    pub fn index(&mut self) -> String {
        self.define("index".into(), |name| {
            format!("fn {name}(i: u32, last: u32) -> u32 {{\n    return min(i, last);\n}}\n")
        })
    }

    /// An integer's division or remainder.
    pub fn divide(&mut self, op: BinaryOperator, shape: Components) -> String {
        let (word, sign) = if op == BinaryOperator::Divide { ("divide", '/') } else { ("remainder", '%') };
        let name = format!("{word}_{}", shape.word());
        self.define(name, |name| {
            let ty = shape.name();
            let (zero, one) = (format!("{ty}()"), format!("{ty}({})", literal(shape.scalar, "1")));
            let signed = shape.scalar.kind == ScalarKind::Sint;
            // A quotient by 1 and a remainder by 1 are what WGSL says of those by zero, and of the one that overflows.
            let unsafe_divisor = match signed {
                true => format!(
                    "(b == {zero}) | ((b == {ty}({})) & (a == {ty}({})))",
                    literal(shape.scalar, "-1"),
                    lowest(shape.scalar)
                ),
                false => format!("b == {zero}"),
            };
            // GLSL has no remainder of what is below 0.
            let value = if signed && sign == '%' { "a - by * (a / by)".into() } else { format!("a {sign} by") };
            format!(
                "fn {name}(a: {ty}, b: {ty}) -> {ty} {{\n    // By 0, and of the lowest integer by -1: as by 1.\n    \
                 let by = select(b, {one}, {unsafe_divisor});\n    return {value};\n}}\n"
            )
        })
    }

    /// An integer as one of more bits and the other sign: as by the width first.
    fn widen(&mut self, from: Components, to: Scalar) -> String {
        let between = Components { scalar: Scalar { kind: from.scalar.kind, ..to }, ..from }.name();
        let (ty, result) = (from.name(), Components { scalar: to, ..from }.name());
        self.define(format!("{}_from_{}", scalar_name(to), from.word()), |name| {
            format!("fn {name}(v: {ty}) -> {result} {{\n    return {result}({between}(v));\n}}\n")
        })
    }

    /// A float as an integer, or an integer as a wider one of the other sign.
    pub fn convert(&mut self, from: Components, to: Scalar) -> String {
        if from.scalar.kind != ScalarKind::Float {
            return self.widen(from, to);
        }
        // Every half is a float of 32 bits, and that has the bits to look at.
        if from.scalar.width == 2 {
            let wide = Components { scalar: Scalar::F32, ..from };
            let inner = self.convert(wide, to);
            let (ty, wide) = (from.name(), wide.name());
            let result = Components { scalar: to, ..from }.name();
            return self.define(format!("{}_from_{}", scalar_name(to), from.word()), |name| {
                format!("fn {name}(v: {ty}) -> {result} {{\n    return {inner}({wide}(v));\n}}\n")
            });
        }
        let scalar = self.convert_scalar(from.scalar, to);
        let Some(size) = from.size else { return scalar };
        self.define(format!("{}_from_{}", scalar_name(to), from.word()), |name| {
            let lanes = ["x", "y", "z", "w"][..size as usize].iter().map(|lane| format!("{scalar}(v.{lane})"));
            let (ty, result) = (from.name(), Components { scalar: to, ..from }.name());
            let lanes = lanes.collect::<Vec<_>>().join(", ");
            format!("fn {name}(v: {ty}) -> {result} {{\n    return {result}({lanes});\n}}\n")
        })
    }

    fn convert_scalar(&mut self, from: Scalar, to: Scalar) -> String {
        let (float, int) = (scalar_name(from), scalar_name(to));
        self.define(format!("{int}_from_{float}"), |name| {
            let bits = u32::from(to.width) * 8 - u32::from(to.kind == ScalarKind::Sint);
            let (high, low) = (2f64.powi(bits as i32), if to.kind == ScalarKind::Sint { -2f64.powi(bits as i32) } else { 0.0 });
            let number = |value: f64| format!("{value:?}{}", if from.width == 8 { "lf" } else { "f" });
            let greatest = literal(to, &((1u128 << bits) - 1).to_string());
            let (word, magnitude, infinity) = match from.width {
                8 => ("u64", "0x7ffffffffffffffflu", "0x7ff0000000000000lu"),
                _ => ("u32", "0x7fffffffu", "0x7f800000u"),
            };
            // The greatest float below the end.
            let below = if from.width == 8 { high.next_down() } else { f64::from((high as f32).next_down()) };
            let (high, low, below) = (number(high), number(low), number(below));
            format!(
                "fn {name}(v: {float}) -> {int} {{\n    // As in Rust: NaN gives 0, and what is out of range the nearest integer.\n    \
                 let whole = select({int}(clamp(v, {low}, {below})), {greatest}, v >= {high});\n    \
                 return select(whole, {zero}, (bitcast<{word}>(v) & {magnitude}) > {infinity});\n}}\n",
                zero = literal(to, "0")
            )
        })
    }
}

fn literal(scalar: Scalar, digits: &str) -> String {
    let suffix = match (scalar.kind, scalar.width) {
        (ScalarKind::Uint, 8) => "lu",
        (ScalarKind::Sint, 8) => "li",
        (ScalarKind::Uint, _) => "u",
        _ => "i",
    };
    format!("{digits}{suffix}")
}

/// The lowest integer of a type, in an expression that needs no literal beyond the greatest.
fn lowest(scalar: Scalar) -> String {
    match (scalar.kind, scalar.width) {
        (ScalarKind::Uint, _) => literal(scalar, "0"),
        (_, 8) => format!("(-{} - 1li)", literal(scalar, &i64::MAX.to_string())),
        _ => format!("(-{} - 1i)", literal(scalar, &i32::MAX.to_string())),
    }
}
