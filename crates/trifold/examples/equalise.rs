//! An image's histogram is equalised, on every device of the machine: `cargo run -p trifold --example equalise`.
//!
//! Levels are counted, and the counts scanned: that is how many pixels are at most so bright. Each pixel finds its new
//! level there. Nothing comes to the host before the new image.

use std::borrow::Cow;

mod on_device;

use on_device::open_all;
use trifold::element;
use trifold::operators::AsBin;
use trifold::prelude::*;

element! {
    /// The level of a pixel, by how many are at most as bright.
    struct Level { pixels: u32 }
}

impl Map<u32> for Level {
    type Output = u8;

    fn text(&self) -> Cow<'static, str> {
        "fn map(a: A) -> U { return a * 255u / captures.pixels; }".into()
    }
    fn map(&self, a: u32) -> u8 {
        (a * 255 / self.pixels) as u8
    }
    fn captures(&self) -> Captures {
        Captures::of(self)
    }
}

fn main() -> trifold::Result<()> {
    const WIDTH: u32 = 320;
    const HEIGHT: u32 = 200;
    // A dark gradient, whose levels are but 40 to 79.
    let pixel = |i: u32| 40 + (i % WIDTH * 30 / WIDTH + i / WIDTH * 10 / HEIGHT) as u8;
    let image: Vec<u8> = (0..WIDTH * HEIGHT).map(pixel).collect();
    let counts = (0..=255).map(|level| image.iter().filter(|&&pixel| pixel <= level).count() as u32);
    let at_most: Vec<u32> = counts.collect();

    for (found, device) in open_all() {
        let pixels = device.upload(&image)?;
        let counts = device.histogram(pixels.mapped(AsBin), 256).collect()?;
        let sums = device.inclusive_scan(&counts, Sum).collect()?;
        let level = Level { pixels: WIDTH * HEIGHT };
        let equalised = device.copy(sums.gathered(pixels.mapped(AsBin)).mapped(level)).read()?;

        let want: Vec<u8> = image.iter().map(|&pixel| level.map(at_most[usize::from(pixel)])).collect();
        assert_eq!(equalised, want, "{found}");
        let range = |image: &[u8]| (image.iter().min().copied(), image.iter().max().copied());
        println!("{found}: levels {:?} become {:?}", range(&image), range(&equalised));
    }
    Ok(())
}
