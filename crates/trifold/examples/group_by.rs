//! Sales are grouped by shop, on every device of the machine: `cargo run -p trifold --example group_by`.
//!
//! A sort brings each shop's sales together. Then two calls go over the runs of equal shops: one adds up, one counts.
//! Prices are cents, so that sums are exact.

use std::collections::BTreeMap;

mod on_device;

use on_device::open_all;
use trifold::prelude::*;

fn main() -> trifold::Result<()> {
    const N: u32 = 100_000;
    const SHOPS: u32 = 1000;
    let mixed = |i: u32| i.wrapping_mul(0x9e37_79b9) >> 7;
    let shops: Vec<u32> = (0..N).map(|i| mixed(i) % SHOPS).collect();
    let cents: Vec<u32> = (0..N).map(|i| mixed(!i) % 10_000).collect();
    let mut want = BTreeMap::<u32, (u32, u32)>::new();
    for (&shop, &cents) in shops.iter().zip(&cents) {
        let (sum, count) = want.entry(shop).or_default();
        (*sum, *count) = (*sum + cents, *count + 1);
    }

    for (found, device) in open_all() {
        let (shops, cents) = (device.upload(&shops)?, device.upload(&cents)?);
        let (sorted, sales) = device.sort(&shops).with(&cents).collect()?;
        let (groups, sums) = device.reduce_by_key(&sorted, &sales, Sum).read()?;
        let (_, counts) = device.run_length_encode(&sorted).read()?;

        let rows = groups.into_iter().zip(sums.into_iter().zip(counts));
        assert_eq!(rows.collect::<BTreeMap<_, _>>(), want, "{found}");
        // Which shops there are at all takes neither sums nor counts.
        let distinct = device.unique(&sorted).read()?;
        assert!(distinct.iter().eq(want.keys()), "{found}");
        println!("{found}: {N} sales in {} shops", distinct.len());
    }
    Ok(())
}
