//! Tokens go to their experts and back, on every device of the machine: `cargo run -p trifold --example experts`.
//!
//! In a mixture of experts each token is for one expert, which takes its tokens as rows that lie together. A histogram
//! and its scan say where each expert's rows begin. Sorted places say which token is in which row: by them tokens are
//! gathered, and results scattered back.

use std::borrow::Cow;

mod on_device;

use on_device::open_all;
use trifold::prelude::*;

const TOKENS: u32 = 5000;
const EXPERTS: u32 = 32;

/// What an expert makes of a token: here it adds its own number.
#[derive(Clone)]
struct Expert;

impl Map<(f32, u32)> for Expert {
    type Output = f32;

    fn text(&self) -> Cow<'static, str> {
        "fn map(a: A, b: B) -> U { return a + f32(b); }".into()
    }
    fn map(&self, (token, expert): (f32, u32)) -> f32 {
        token + expert as f32
    }
}

fn main() -> trifold::Result<()> {
    let experts: Vec<u32> = (0..TOKENS).map(|i| (i.wrapping_mul(0x9e37_79b9) >> 16) % EXPERTS).collect();
    let tokens: Vec<f32> = (0..TOKENS).map(|i| i as f32 / 64.0).collect();
    for (found, device) in open_all() {
        let (of, tokens_there) = (device.upload(&experts)?, device.upload(&tokens)?);
        let begins = device.exclusive_scan(device.histogram(&of, EXPERTS as usize).collect()?, Sum).read()?;
        let rows = device.argsort(&of).collect()?;

        // The experts' rows, each behind the other, are gathered as they are read.
        let (token, expert) = (tokens_there.gathered(&rows), of.gathered(&rows));
        let results = device.copy(token.zipped(expert).mapped(Expert)).collect()?;
        let back = device.alloc(TOKENS as usize)?;
        device.scatter(&results, &rows).to(&back).run()?;

        let order = rows.read()?;
        for (expert, &begin) in begins.iter().enumerate() {
            let first = order.get(begin as usize).map(|&token| experts[token as usize]);
            assert_eq!(first, Some(expert as u32), "{found}");
        }
        let want: Vec<f32> = tokens.iter().zip(&experts).map(|(&token, &expert)| Expert.map((token, expert))).collect();
        assert_eq!(back.read()?, want, "{found}");
        println!("{found}: {TOKENS} tokens for {EXPERTS} experts, and back");
    }
    Ok(())
}
