//! Functions that emitted C calls to keep WGSL's meaning. Each is defined in a text once, and only where it is called.

use trifold_core::{Scalar, ScalarKind};

use super::Emitter;
use super::math::clamp;
use crate::dialect::{Dialect, lowest};

impl Emitter<'_> {
    /// Defines `wgsl_{name}_{scalar}`: `parameters` with `$` for the scalar, and the lines of its body.
    fn helper(&mut self, name: &str, scalar: Scalar, parameters: &str, body: &[&str]) -> String {
        let (ty, qualifier) = (scalar.name(), self.dialect.qualifier());
        let name = format!("wgsl_{name}_{ty}");
        let parameters = parameters.replace('$', ty);
        let body: String = body.iter().map(|line| format!("    {line}\n")).collect();
        self.helpers.insert(&name, format!("{qualifier}{ty} {name}({parameters}) {{\n{body}}}\n"));
        name
    }

    fn lowest(&self, scalar: Scalar) -> String {
        self.dialect.integer(scalar, lowest(scalar))
    }

    pub fn divide_helper(&mut self, scalar: Scalar) -> String {
        match scalar.kind() {
            ScalarKind::Signed => {
                let overflow = format!("return b == 0 || (b == -1 && a == {}) ? a : a / b;", self.lowest(scalar));
                let comment = "// WGSL: a / 0 is a, and so is the one quotient that overflows.";
                self.helper("divide", scalar, "$ a, $ b", &[comment, &overflow])
            }
            _ => self.helper("divide", scalar, "$ a, $ b", &["// WGSL: a / 0 is a.", "return b == 0 ? a : a / b;"]),
        }
    }

    pub fn remainder_helper(&mut self, scalar: Scalar) -> String {
        match scalar.kind() {
            ScalarKind::Signed => {
                let comment = "// WGSL: a % 0 is 0. a % -1 is too, but C's may overflow.";
                let body = "return b == 0 || b == -1 ? 0 : a % b;";
                self.helper("remainder", scalar, "$ a, $ b", &[comment, body])
            }
            _ => self.helper("remainder", scalar, "$ a, $ b", &["// WGSL: a % 0 is 0.", "return b == 0 ? 0 : a % b;"]),
        }
    }

    pub fn absolute_helper(&mut self, scalar: Scalar) -> String {
        let unsigned = scalar.unsigned().name();
        let body = format!("return a < 0 ? ({})(0 - ({unsigned})a) : a;", scalar.name());
        self.helper("abs", scalar, "$ a", &["// WGSL: the lowest integer is its own absolute value.", &body])
    }

    pub fn clamp_helper(&mut self, scalar: Scalar) -> String {
        let raised = format!("const {} raised = a > low ? a : low;", scalar.name());
        self.helper("clamp", scalar, "$ a, $ low, $ high", &[&raised, "return raised < high ? raised : high;"])
    }

    /// Clamps an index to its array.
    pub fn index_helper(&mut self) -> String {
        let qualifier = self.dialect.qualifier();
        let text = format!(
            "{qualifier}u32 wgsl_index(u32 i, u32 count) {{\n    // WGSL: an index out of bounds stays within the \
             array.\n    return i < count ? i : count - 1u;\n}}\n"
        );
        self.helpers.insert("wgsl_index", text);
        "wgsl_index".to_string()
    }

    /// Converts a float to an integer.
    pub fn integer_helper(&mut self, from: Scalar, to: Scalar) -> String {
        let signed = to.kind() == ScalarKind::Signed;
        let bits = 8 * to.bytes() - u32::from(signed);
        let end = 2f64.powi(bits as i32);
        let (least, start) = if signed { (self.lowest(to), -end) } else { ("0".to_string(), 0.0) };
        let greatest = self.dialect.integer(to, (1 << bits) - 1);
        let (power, low) = (self.dialect.float(from, end), self.dialect.float(from, start));
        let (from_name, to_name) = (from.name(), to.name());
        let parameters = format!("{from_name} a");
        let lines = [
            "// As in Rust: NaN gives 0, and what is out of range the nearest integer.".to_string(),
            "if (a != a) { return 0; }".to_string(),
            format!("if (a >= {power}) {{ return {greatest}; }}"),
            format!("if (a <= {low}) {{ return {least}; }}"),
            format!("return ({to_name})a;"),
        ];
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        self.helper(&format!("from_{from_name}_to"), to, &parameters, &lines)
    }

    pub fn smoothstep_helper(&mut self, scalar: Scalar) -> String {
        let d = self.dialect;
        let number = |value: f64| d.float(scalar, value);
        let ratio = format!("{} / {}", d.float_sub(scalar, "x", "low"), d.float_sub(scalar, "high", "low"));
        let t = format!("const {} t = {};", scalar.name(), clamp(d, scalar, &ratio, &number(0.0), &number(1.0)));
        let slope = d.float_sub(scalar, &number(3.0), &d.float_mul(scalar, &number(2.0), "t"));
        let body = format!("return {};", d.float_mul(scalar, &d.float_mul(scalar, "t", "t"), &slope));
        self.helper("smoothstep", scalar, "$ low, $ high, $ x", &[&t, &body])
    }

    pub fn count_one_bits_helper(&mut self, scalar: Scalar) -> String {
        let count = self.popcount(scalar, "a");
        let body = format!("return ({}){count};", scalar.name());
        self.helper("count_one_bits", scalar, "$ a", &[&body])
    }

    fn popcount(&self, scalar: Scalar, a: &str) -> String {
        let unsigned = scalar.unsigned().name();
        match (self.dialect, scalar.bytes()) {
            (Dialect::Cuda, 8) => format!("__popcll(({unsigned}){a})"),
            (Dialect::Cuda, _) => format!("__popc(({unsigned}){a})"),
            _ => format!("popcount(({unsigned}){a})"),
        }
    }

    pub fn count_leading_zeros_helper(&mut self, scalar: Scalar) -> String {
        let (name, unsigned) = (scalar.name(), scalar.unsigned().name());
        // All three give the width for 0.
        let body = match (self.dialect, scalar.bytes()) {
            (Dialect::Cuda, 8) => format!("return ({name})__clzll((i64)a);"),
            (Dialect::Cuda, _) => format!("return ({name})__clz((i32)a);"),
            _ => format!("return ({name})clz(({unsigned})a);"),
        };
        self.helper("count_leading_zeros", scalar, "$ a", &[&body])
    }

    pub fn count_trailing_zeros_helper(&mut self, scalar: Scalar) -> String {
        let unsigned = scalar.unsigned().name();
        let mask = format!("const {unsigned} below = ~({unsigned})a & (({unsigned})a - 1u);");
        let body = format!("return ({}){};", scalar.name(), self.popcount(scalar, "below"));
        let comment = "// The bits below the lowest one; all of them for 0. OpenCL C 1.2 has no ctz.";
        self.helper("count_trailing_zeros", scalar, "$ a", &[comment, &mask, &body])
    }

    pub fn reverse_bits_helper(&mut self, scalar: Scalar) -> String {
        let (name, wide) = (scalar.name(), scalar.unsigned());
        let unsigned = wide.name();
        if self.dialect == Dialect::Cuda {
            let function = if scalar.bytes() == 8 { "__brevll" } else { "__brev" };
            let body = format!("return ({name}){function}(({unsigned})a);");
            return self.helper("reverse_bits", scalar, "$ a", &[&body]);
        }
        let mut lines =
            vec!["// Swaps ever larger groups of bits.".to_string(), format!("{unsigned} r = ({unsigned})a;")];
        let width = scalar.bytes() * 8;
        let mut group = 1;
        while group < width {
            // The lower group of each pair: 0x55.., 0x33.., 0x0f.., and so on.
            let mask = (0..width).filter(|bit| bit & group == 0).fold(0u64, |mask, bit| mask | 1 << bit);
            let (digits, long) = (2 + width as usize / 4, if width == 64 { "l" } else { "" });
            let mask = format!("{mask:#0digits$x}u{long}");
            lines.push(format!("r = ((r >> {group}) & {mask}) | ((r & {mask}) << {group});"));
            group *= 2;
        }
        lines.push(format!("return ({name})r;"));
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        self.helper("reverse_bits", scalar, "$ a", &lines)
    }

    pub fn first_leading_bit_helper(&mut self, scalar: Scalar) -> String {
        let wide = scalar.unsigned();
        let zeros = self.count_leading_zeros_helper(wide);
        let (name, unsigned, top) = (scalar.name(), wide.name(), scalar.bytes() * 8 - 1);
        let (comment, bits) = if wide == scalar {
            ("// WGSL: all ones for 0.", format!("const {unsigned} bits = a;"))
        } else {
            let bits = format!("const {unsigned} bits = ({unsigned})(a < 0 ? ~a : a);");
            ("// WGSL: the highest bit that differs from the sign; -1 where there is none.", bits)
        };
        let body = format!("return bits == 0 ? ({name})-1 : ({name})({top} - {zeros}(bits));");
        self.helper("first_leading_bit", scalar, "$ a", &[comment, &bits, &body])
    }

    pub fn first_trailing_bit_helper(&mut self, scalar: Scalar) -> String {
        let zeros = self.count_trailing_zeros_helper(scalar);
        let body = format!("return a == 0 ? ({})-1 : {zeros}(a);", scalar.name());
        self.helper("first_trailing_bit", scalar, "$ a", &["// WGSL: all ones for 0.", &body])
    }

    pub fn extract_bits_helper(&mut self, scalar: Scalar) -> String {
        let (name, unsigned, width) = (scalar.name(), scalar.unsigned().name(), scalar.bytes() * 8);
        let (offset, count) = bit_range(width);
        let body = format!("return c == 0u ? 0 : ({name})(({unsigned})a << ({width}u - c - o)) >> ({width}u - c);");
        self.helper("extract_bits", scalar, "$ a, u32 offset, u32 count", &[&offset, &count, &body])
    }

    pub fn insert_bits_helper(&mut self, scalar: Scalar) -> String {
        let (name, unsigned, width) = (scalar.name(), scalar.unsigned().name(), scalar.bytes() * 8);
        let (offset, count) = bit_range(width);
        let mask = format!("const {unsigned} mask = (~({unsigned})0 >> ({width}u - c)) << o;");
        let body = format!("return ({name})((({unsigned})a & ~mask) | ((({unsigned})bits << o) & mask));");
        let lines: [&str; 5] = [&offset, &count, "if (c == 0u) { return a; }", &mask, &body];
        self.helper("insert_bits", scalar, "$ a, $ bits, u32 offset, u32 count", &lines)
    }
}

/// The range of bits that WGSL means by `offset` and `count`: the part within the integer.
fn bit_range(width: u32) -> (String, String) {
    (
        format!("const u32 o = offset < {width}u ? offset : {width}u;"),
        format!("const u32 c = count < {width}u - o ? count : {width}u - o;"),
    )
}
