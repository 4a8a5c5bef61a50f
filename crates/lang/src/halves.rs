//! Floats of 16 bits, widened and rounded by integers: devices' own conversions differ in subnormals, and WGSL's have no meaning past
//! the largest number.

use trifold_core::Scalar;

use crate::dialect::Dialect;

/// The functions between `f16`'s and `bf16`'s bits and an `f32`, each where it is wanted: `(widened, rounded)`.
pub(crate) fn emit(f16: (bool, bool), bf16: (bool, bool), dialect: Dialect) -> String {
    let text = Text(dialect);
    let functions = [
        f16.0.then(|| text.f16_widened()),
        f16.1.then(|| text.f16_rounded()),
        bf16.0.then(|| text.bf16_widened()),
        bf16.1.then(|| text.bf16_rounded()),
    ];
    functions.into_iter().flatten().collect()
}

struct Text(Dialect);

impl Text {
    fn function(&self, result: &str, name: &str, ty: &str, argument: &str, body: &str) -> String {
        let head = match self.0 {
            Dialect::Wgsl => format!("fn {name}({argument}: {ty}) -> {result}"),
            _ => format!("{}{result} {name}({ty} {argument})", self.0.qualifier()),
        };
        format!("{head} {{\n{body}}}\n")
    }

    fn constants(&self, values: &[(&str, String)]) -> String {
        let line = |(name, value): &(&str, String)| match self.0 {
            Dialect::Wgsl => format!("  let {name} = {value};\n"),
            _ => format!("  const u32 {name} = {value};\n"),
        };
        values.iter().map(line).collect()
    }

    fn choose(&self, condition: &str, yes: &str, no: &str) -> String {
        match self.0 {
            Dialect::Wgsl => format!("select({no}, {yes}, {condition})"),
            Dialect::OpenCl => format!("select({no}, {yes}, (u32)({condition}))"),
            Dialect::Cuda => format!("({condition} ? {yes} : {no})"),
        }
    }

    fn bits(&self, value: &str) -> String {
        self.0.bits_of(Scalar::F32, value)
    }

    fn float(&self, bits: &str) -> String {
        self.0.value_of(Scalar::F32, bits)
    }

    fn f16_widened(&self) -> String {
        // A subnormal one is so many steps of 2^-24, which an f32 has exactly.
        let small = match self.0 {
            Dialect::Wgsl => "f32(part) * 5.9604644775390625e-8f",
            _ => "(f32)part * 5.9604644775390625e-8f",
        };
        let values = [
            ("sign", "(bits & 0x8000u) << 16u".to_string()),
            ("exponent", "(bits >> 10u) & 31u".to_string()),
            ("part", "bits & 0x3ffu".to_string()),
            ("raised", self.choose("exponent == 31u", "255u", "exponent + 112u")),
            ("normal", "(raised << 23u) | (part << 13u)".to_string()),
            ("small", self.bits(&format!("({small})"))),
            ("magnitude", self.choose("exponent == 0u", "small", "normal")),
            // A NaN becomes a quiet one.
            ("quiet", self.choose("(bits & 0x7fffu) > 0x7c00u", "0x400000u", "0u")),
        ];
        let body = format!("{}  return {};\n", self.constants(&values), self.float("(sign | magnitude | quiet)"));
        self.function("f32", "f16_widened", "u32", "bits", &body)
    }

    fn f16_rounded(&self) -> String {
        let values = [
            ("bits", self.bits("value")),
            ("sign", "(bits >> 16u) & 0x8000u".to_string()),
            ("magnitude", "bits & 0x7fffffffu".to_string()),
            // Of a normal result: 13 bits are rounded away. Past the largest number that carries to infinity.
            ("moved", "min(magnitude, 0x47800000u) - 0x38000000u".to_string()),
            ("normal", "(moved + 0xfffu + ((moved >> 13u) & 1u)) >> 13u".to_string()),
            // Of a subnormal one, more of them.
            ("shift", "126u - min(max(magnitude >> 23u, 101u), 112u)".to_string()),
            ("part", "(magnitude & 0x7fffffu) | 0x800000u".to_string()),
            ("whole", "part >> shift".to_string()),
            ("lost", "part & ((1u << shift) - 1u)".to_string()),
            ("half_way", "1u << (shift - 1u)".to_string()),
            ("up", self.choose("lost > half_way || (lost == half_way && (whole & 1u) == 1u)", "1u", "0u")),
            ("small", self.choose("magnitude < 0x33000000u", "0u", "whole + up")),
            ("finite", self.choose("magnitude < 0x38800000u", "small", "normal")),
            ("nan", "0x7e00u | ((magnitude >> 13u) & 0x3ffu)".to_string()),
        ];
        let all = self.choose("magnitude > 0x7f800000u", "nan", "finite");
        let body = format!("{}  return sign | {all};\n", self.constants(&values));
        self.function("u32", "f16_rounded", "f32", "value", &body)
    }

    fn bf16_widened(&self) -> String {
        let values = [("quiet", self.choose("(bits & 0x7fffu) > 0x7f80u", "0x400000u", "0u"))];
        let body = format!("{}  return {};\n", self.constants(&values), self.float("((bits << 16u) | quiet)"));
        self.function("f32", "bf16_widened", "u32", "bits", &body)
    }

    fn bf16_rounded(&self) -> String {
        let values =
            [("bits", self.bits("value")), ("rounded", "(bits + 0x7fffu + ((bits >> 16u) & 1u)) >> 16u".to_string())];
        let all = self.choose("(bits & 0x7fffffffu) > 0x7f800000u", "(bits >> 16u) | 0x40u", "rounded");
        let body = format!("{}  return {all};\n", self.constants(&values));
        self.function("u32", "bf16_rounded", "f32", "value", &body)
    }
}
