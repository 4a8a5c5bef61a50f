//! The conversions of 16-bit floats, compiled by the host's C compilers: every one that can be widened, and every border of rounding.

use std::process::Command;

use trifold_core::types::{bf16, f16};
use trifold_core::{Language, bytemuck};
use trifold_lang::emit_halves;

use crate::c;

/// Writes what a word's lower half is widened to, and what the word is rounded to as a float.
const MAIN: &str = "
int main(void) {
    unsigned int word;
    while (fread(&word, sizeof word, 1, stdin) == 1) {
        union { unsigned int word; float value; } of = { word };
        float widened[2] = { f16_widened(word & 0xffffu), bf16_widened(word & 0xffffu) };
        unsigned int rounded[2] = { f16_rounded(of.value), bf16_rounded(of.value) };
        fwrite(widened, sizeof widened, 1, stdout);
        fwrite(rounded, sizeof rounded, 1, stdout);
    }
    return 0;
}
";

/// What the languages have, and the host's C has not.
const LIBRARY: &str = "
static inline u32 min_of(u32 a, u32 b) { return a < b ? a : b; }
static inline u32 max_of(u32 a, u32 b) { return a > b ? a : b; }
static inline u32 choose(u32 no, u32 yes, u32 condition) { return condition ? yes : no; }
#define min min_of
#define max max_of
#define select choose
";

/// Each number of 16 bits, and of each float of 16 bits itself, the middle to the next one, and the floats beside that.
fn words() -> Vec<u32> {
    let mut words: Vec<u32> = (0..=0xffff).collect();
    for bits in 0..=0xffff_u16 {
        let next = bits.wrapping_add(1);
        let middles = [
            (f32::from(f16::from_bits(bits)), f32::from(f16::from_bits(next))),
            (f32::from(bf16::from_bits(bits)), f32::from(bf16::from_bits(next))),
        ];
        for (own, next) in middles {
            let middle = ((f64::from(own) + f64::from(next)) / 2.0) as f32;
            words.extend([own.to_bits(), middle.to_bits()]);
            words.extend([middle.to_bits().wrapping_sub(1), middle.to_bits().wrapping_add(1)]);
        }
    }
    // The largest that is finite, what is halfway to infinity, and NaNs.
    words.extend([0x477f_e000, 0x477f_efff, 0x477f_f000, 0x7f80_0000, 0xff80_0000, 0x7f80_0001, 0xffff_ffff]);
    words
}

#[test]
fn they_are_those_of_rust() {
    let words = words();
    for (language, compiler, shim) in [(Language::OpenClC, "cc", c::OPENCL), (Language::CudaC, "c++", c::CUDA)] {
        if Command::new(compiler).arg("--version").output().is_err() {
            eprintln!("ignored: no `{compiler}` here to compile {language:?} with");
            continue;
        }
        let text = emit_halves((true, true), (true, true), language).unwrap();
        let bytes =
            c::run(compiler, language, &format!("{shim}\n{LIBRARY}{text}\n{MAIN}"), bytemuck::cast_slice(&words));
        let found: Vec<[u32; 4]> = bytes.chunks_exact(16).map(bytemuck::pod_read_unaligned).collect();
        assert_eq!(found.len(), words.len());
        for (&word, found) in words.iter().zip(found) {
            let (half, value) = (word as u16, f32::from_bits(word));
            let expected = [
                f32::from(f16::from_bits(half)).to_bits(),
                f32::from(bf16::from_bits(half)).to_bits(),
                f16::from_f32(value).to_bits().into(),
                bf16::from_f32(value).to_bits().into(),
            ];
            assert_eq!(found, expected, "{word:#010x} in {language:?}");
        }
    }
}
