//! What the algorithms of one pass share: the tiles of a launch take tickets, and publish states that later tiles look back at.

use crate::planner::Planner;
use crate::scratch::Scratch;
use crate::tuning::numbers;
use crate::{Error, Op, Region, Result};

numbers! {
    /// Numbers of every algorithm whose tiles wait.
    pub struct Chain by l {
        /// Polls of a tile's state before its waiter computes the aggregate itself; a quarter of it where pipelined look-back goes by chunks.
        spin_limit "spin_limit": Count up to 1 << 20 => if l.small { 16 } else { 256 },
    }
}

/// A ticket's word has the epoch above a tile's number, in units of this.
const TICKETS: u32 = 1 << 24;

/// The blocks by which a workgroup takes a tile and publishes its aggregate.
pub(crate) const ANNOUNCE: [&str; 3] = ["chain/ticket", "workgroup/tile_totals", "chain/tile_announce"];

/// The blocks by which a subgroup looks back.
pub(crate) const LOOKBACK: [&str; 2] = ["chain/lookback_fold", "chain/lookback"];

/// The blocks that find what lies before a tile, by the states of this block.
pub(crate) fn tile_prefix(state: &'static str) -> Vec<&'static str> {
    [&[state], &ANNOUNCE[..], &LOOKBACK[..], &["chain/tile_prefix"]].concat()
}

/// How a tile's state is held.
pub(crate) struct TileState {
    pub(crate) part: &'static str,
    pub(crate) bytes: u64,
    /// Whether one access moves it.
    pub(crate) is_word: bool,
}

/// What the tiles of one launch tell each other through: a ticket, and a state for each.
///
/// # Errors
/// [`Error::Invalid`] if there are more tickets than a ticket's word can tell.
pub(crate) fn tile_states(
    n: u32,
    tiles: u32,
    groups: u32,
    state_bytes: u64,
    scratch: &mut Scratch,
) -> Result<[(&'static str, Region); 2]> {
    if tiles + groups >= TICKETS {
        return Err(Error::Invalid(format!(
            "{n} elements are {tiles} tiles, and {TICKETS} tickets are too few; split the work"
        )));
    }
    // The second word is what late tiles pass their time with.
    let ticket = scratch.keep(8);
    let states = scratch.keep(u64::from(tiles) * state_bytes);
    Ok([("states", states), ("ticket", ticket)])
}

impl Planner<'_> {
    /// The state of a tile of an operator's elements: by the widest words that the device reads at once.
    pub(crate) fn state(&self, op: &Op) -> TileState {
        match op.element().words() {
            1 if self.caps.atomics64 => TileState { part: "chain/state_word64", bytes: 8, is_word: true },
            2 if self.caps.atomics128 => TileState { part: "chain/state_word128", bytes: 16, is_word: true },
            words if self.caps.atomics64 => {
                TileState { part: "chain/state_words64", bytes: 2 * 8 * u64::from(words), is_word: false }
            }
            words => TileState { part: "chain/state_wide", bytes: 2 * 2 * 4 * u64::from(words), is_word: false },
        }
    }
}
