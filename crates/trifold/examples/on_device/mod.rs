//! What the examples of applications share: devices that are found at run time.

use trifold::{AnyBackend, Found};

/// Every device that opens. One that does not says why, and is no reason to do without the others.
pub fn open_all() -> impl Iterator<Item = (Found, Box<dyn AnyBackend>)> {
    trifold::devices().into_iter().filter_map(|found| match found.open() {
        Ok(device) => Some((found, device)),
        Err(error) => {
            println!("{found}: {error}");
            None
        }
    })
}
