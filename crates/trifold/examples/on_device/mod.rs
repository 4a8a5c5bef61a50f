//! What the examples of applications share: devices that are found at run time.

use trifold::{Device, Found};

/// Every device that opens. One that does not says why, and is no reason to do without the others.
pub fn open_all() -> impl Iterator<Item = (Found, Device)> {
    trifold::devices().into_iter().filter_map(|found| match found.open() {
        Ok(device) => Some((found, device)),
        Err(error) => {
            println!("{found}: {error}");
            None
        }
    })
}
