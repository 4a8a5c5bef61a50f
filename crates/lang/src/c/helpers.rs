//! Functions that emitted C calls to keep WGSL's meaning. Each is defined in a kernel once, and only where it is called.

use trifold_core::{Scalar, ScalarKind};

use super::Emitter;
use super::math::clamp;
use crate::dialect::{Dialect, lowest};

/// The range of bits that WGSL means by `offset` and `count`: the part within the integer.
const BIT_RANGE: [&str; 2] =
    ["const u32 o = offset < $Wu ? offset : $Wu;", "const u32 c = count < $Wu - o ? count : $Wu - o;"];

impl Emitter<'_> {
    /// Defines `wgsl_{name}_{scalar}` by its parameters and the lines of its body. Both may have placeholders:
    ///
    /// | Placeholder | Stands for |
    /// |---|---|
    /// | `$T` | the scalar |
    /// | `$U` | the unsigned integer of its width |
    /// | `$W` | its width in bits |
    /// | `$LOW` | its lowest number |
    /// | `$POP` | the function that counts ones |
    fn helper(&mut self, name: &str, scalar: Scalar, parameters: &str, body: &[&str]) -> String {
        let (ty, qualifier, width) = (scalar.name(), self.dialect.qualifier(), scalar.bytes() * 8);
        let ones = match (self.dialect, width) {
            (Dialect::Cuda, 64) => "__popcll",
            (Dialect::Cuda, _) => "__popc",
            _ => "popcount",
        };
        let lowest = self.dialect.integer(scalar, lowest(scalar));
        let fill = |text: &str| {
            let text = text.replace("$T", ty).replace("$U", scalar.unsigned().name()).replace("$W", &width.to_string());
            text.replace("$LOW", &lowest).replace("$POP", ones)
        };
        let name = format!("wgsl_{name}_{ty}");
        let body: String = body.iter().map(|line| format!("    {}\n", fill(line))).collect();
        self.helpers.insert(&name, format!("{qualifier}{ty} {name}({}) {{\n{body}}}\n", fill(parameters)));
        name
    }

    pub fn divide_helper(&mut self, scalar: Scalar) -> String {
        let body = match scalar.kind() {
            ScalarKind::Signed => [
                "// WGSL: a / 0 is a, and so is the one quotient that overflows.",
                "return b == 0 || (b == -1 && a == $LOW) ? a : a / b;",
            ],
            _ => ["// WGSL: a / 0 is a.", "return b == 0 ? a : a / b;"],
        };
        self.helper("divide", scalar, "$T a, $T b", &body)
    }

    pub fn remainder_helper(&mut self, scalar: Scalar) -> String {
        let body = match scalar.kind() {
            ScalarKind::Signed => {
                ["// WGSL: a % 0 is 0. a % -1 is too, but C's may overflow.", "return b == 0 || b == -1 ? 0 : a % b;"]
            }
            _ => ["// WGSL: a % 0 is 0.", "return b == 0 ? 0 : a % b;"],
        };
        self.helper("remainder", scalar, "$T a, $T b", &body)
    }

    pub fn absolute_helper(&mut self, scalar: Scalar) -> String {
        let comment = "// WGSL: the lowest integer is its own absolute value.";
        self.helper("abs", scalar, "$T a", &[comment, "return a < 0 ? ($T)(0 - ($U)a) : a;"])
    }

    pub fn clamp_helper(&mut self, scalar: Scalar) -> String {
        let body = ["const $T raised = a > low ? a : low;", "return raised < high ? raised : high;"];
        self.helper("clamp", scalar, "$T a, $T low, $T high", &body)
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
        let (least, start) = if signed { ("$LOW", -end) } else { ("0", 0.0) };
        let greatest = self.dialect.integer(to, (1 << bits) - 1);
        let (power, low) = (self.dialect.float(from, end), self.dialect.float(from, start));
        let name = format!("from_{}_to", from.name());
        // One instruction where the language promises what the lines below do. Of 64 bits CUDA does not.
        let saturating = match (self.dialect, to) {
            _ if from != Scalar::F32 => None,
            (Dialect::Cuda, Scalar::U32) => Some("return __float2uint_rz(a);"),
            (Dialect::Cuda, Scalar::I32) => Some("return __float2int_rz(a);"),
            (Dialect::OpenCl, Scalar::U32) => Some("return convert_uint_sat_rtz(a);"),
            (Dialect::OpenCl, Scalar::I32) => Some("return convert_int_sat_rtz(a);"),
            _ => None,
        };
        let meaning = "// As in Rust: NaN gives 0, and what is out of range the nearest integer.";
        if let Some(line) = saturating {
            return self.helper(&name, to, "f32 a", &[meaning, line]);
        }
        let lines = [
            meaning,
            "if (a != a) { return 0; }",
            &format!("if (a >= {power}) {{ return {greatest}; }}"),
            &format!("if (a <= {low}) {{ return {least}; }}"),
            "return ($T)a;",
        ];
        self.helper(&name, to, &format!("{} a", from.name()), &lines)
    }

    pub fn smoothstep_helper(&mut self, scalar: Scalar) -> String {
        let d = self.dialect;
        let number = |value: f64| d.float(scalar, value);
        let ratio = format!("{} / {}", d.float_sub(scalar, "x", "low"), d.float_sub(scalar, "high", "low"));
        let t = format!("const $T t = {};", clamp(d, scalar, &ratio, &number(0.0), &number(1.0)));
        let slope = d.float_sub(scalar, &number(3.0), &d.float_mul(scalar, &number(2.0), "t"));
        let body = format!("return {};", d.float_mul(scalar, &d.float_mul(scalar, "t", "t"), &slope));
        self.helper("smoothstep", scalar, "$T low, $T high, $T x", &[&t, &body])
    }

    pub fn count_one_bits_helper(&mut self, scalar: Scalar) -> String {
        self.helper("count_one_bits", scalar, "$T a", &["return ($T)$POP(($U)a);"])
    }

    pub fn count_leading_zeros_helper(&mut self, scalar: Scalar) -> String {
        // All three give the width for 0.
        let body = match (self.dialect, scalar.bytes()) {
            (Dialect::Cuda, 8) => "return ($T)__clzll((i64)a);",
            (Dialect::Cuda, _) => "return ($T)__clz((i32)a);",
            _ => "return ($T)clz(($U)a);",
        };
        self.helper("count_leading_zeros", scalar, "$T a", &[body])
    }

    pub fn count_trailing_zeros_helper(&mut self, scalar: Scalar) -> String {
        let body = [
            "// The bits below the lowest one; all of them for 0. OpenCL C 1.2 has no ctz.",
            "const $U below = ~($U)a & (($U)a - 1u);",
            "return ($T)$POP(($U)below);",
        ];
        self.helper("count_trailing_zeros", scalar, "$T a", &body)
    }

    pub fn reverse_bits_helper(&mut self, scalar: Scalar) -> String {
        let width = scalar.bytes() * 8;
        if self.dialect == Dialect::Cuda {
            let body = if width == 64 { "return ($T)__brevll(($U)a);" } else { "return ($T)__brev(($U)a);" };
            return self.helper("reverse_bits", scalar, "$T a", &[body]);
        }
        let mut lines = vec!["// Swaps ever larger groups of bits.".to_string(), "$U r = ($U)a;".to_string()];
        let mut group = 1;
        while group < width {
            // The lower group of each pair: 0x55.., 0x33.., 0x0f.., and so on.
            let mask = (0..width).filter(|bit| bit & group == 0).fold(0u64, |mask, bit| mask | 1 << bit);
            let (digits, long) = (2 + width as usize / 4, if width == 64 { "l" } else { "" });
            let mask = format!("{mask:#0digits$x}u{long}");
            lines.push(format!("r = ((r >> {group}) & {mask}) | ((r & {mask}) << {group});"));
            group *= 2;
        }
        lines.push("return ($T)r;".to_string());
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        self.helper("reverse_bits", scalar, "$T a", &lines)
    }

    pub fn first_leading_bit_helper(&mut self, scalar: Scalar) -> String {
        let (zeros, top) = (self.count_leading_zeros_helper(scalar.unsigned()), scalar.bytes() * 8 - 1);
        let [comment, bits] = match scalar.kind() {
            ScalarKind::Unsigned => ["// WGSL: all ones for 0.", "const $U bits = a;"],
            _ => [
                "// WGSL: the highest bit that differs from the sign; -1 where there is none.",
                "const $U bits = ($U)(a < 0 ? ~a : a);",
            ],
        };
        let body = format!("return bits == 0 ? ($T)-1 : ($T)({top} - {zeros}(bits));");
        self.helper("first_leading_bit", scalar, "$T a", &[comment, bits, &body])
    }

    pub fn first_trailing_bit_helper(&mut self, scalar: Scalar) -> String {
        let zeros = self.count_trailing_zeros_helper(scalar);
        let body = format!("return a == 0 ? ($T)-1 : {zeros}(a);");
        self.helper("first_trailing_bit", scalar, "$T a", &["// WGSL: all ones for 0.", &body])
    }

    pub fn extract_bits_helper(&mut self, scalar: Scalar) -> String {
        let [offset, count] = BIT_RANGE;
        let body = "return c == 0u ? 0 : ($T)(($U)a << ($Wu - c - o)) >> ($Wu - c);";
        self.helper("extract_bits", scalar, "$T a, u32 offset, u32 count", &[offset, count, body])
    }

    pub fn insert_bits_helper(&mut self, scalar: Scalar) -> String {
        let [offset, count] = BIT_RANGE;
        let body = [
            offset,
            count,
            "if (c == 0u) { return a; }",
            "const $U mask = (~($U)0 >> ($Wu - c)) << o;",
            "return ($T)((($U)a & ~mask) | ((($U)bits << o) & mask));",
        ];
        self.helper("insert_bits", scalar, "$T a, $T bits, u32 offset, u32 count", &body)
    }
}
