//! The bounds of segments, which say up to which key the first come: digit by digit, and what comes up to them.

use super::{DIGIT, FILTER, FLAGS, TopKTask};
use crate::scratch::Scratch;
use crate::{Kernel, Param, Region, Segments, Step};

/// A segment of up to so many times the mean length is taken alone.
const ALONE: u64 = 4;
/// Keys whose flags are in a word, a byte each.
const FLAGS_EACH: u32 = 4;
/// Words of the memory of a bound: the image of a key, an index, and what counting digits needs.
const WORDS: u32 = 9;
/// Behind these, in bounds that several workgroups share, the counts that they add up.
const COUNTS: u32 = 256;

/// Where bounds of segments are, and what workgroups take of these segments.
pub(super) struct Bounds {
    pub(super) region: Region,
    /// Whether several workgroups share a segment.
    is_shared: bool,
    /// How many workgroups there are, and how many of them have something to take.
    groups: u32,
    slots: Param,
    /// The texts that say what each takes, and what they are told.
    texts: &'static [&'static str],
    told: Vec<(&'static str, Param)>,
}

impl Bounds {
    /// So many bounds, for workgroups that share a segment or have one alone.
    fn of(count: u32, is_shared: bool, scratch: &mut Scratch) -> Bounds {
        let region = scratch.take(4 * u64::from(count) * u64::from(words(is_shared)));
        Bounds { region, is_shared, groups: count, slots: Param::Word(count), texts: &[], told: vec![] }
    }

    pub(super) fn words(&self) -> (&'static str, u32) {
        ("BOUND_WORDS", words(self.is_shared))
    }

    /// Zeros: nothing is found or counted yet.
    pub(super) fn clear(&self) -> Step {
        Step::Fill { region: self.region, value: 0, once: false }
    }
}

fn words(is_shared: bool) -> u32 {
    if is_shared { WORDS + COUNTS } else { WORDS }
}

impl TopKTask<'_> {
    /// A bound for each segment. Where there are few, as many workgroups share each: together all that the device runs at a time.
    pub(super) fn bounds(&self, scratch: &mut Scratch) -> Bounds {
        let numbers = &self.planner.tuning.top_k;
        let tiles = self.request.longest().div_ceil(self.tile()) as u32;
        let count = self.request.count() as u32;
        let parts = self.planner.staying_of(count, tiles, numbers.groups_each);
        Bounds {
            groups: count * parts,
            slots: self.segments().times(parts),
            texts: &["top_k/share", "top_k/share_tiles"],
            told: vec![("parts", Param::Word(parts))],
            ..Bounds::of(count, parts > 1, scratch)
        }
    }

    /// The same for segments of which one may have most of all keys. Workgroups share those that have chunks, and take the others alone.
    pub(super) fn bounds_of_any_length(&self, scratch: &mut Scratch) -> Vec<Bounds> {
        let Some(chunk) = self.chunk() else { return vec![self.bounds(scratch)] };
        let told = vec![("chunk", Param::Word(chunk)), ("segments", self.segments())];
        let short = Bounds {
            texts: &["top_k/share", "top_k/chunks", "top_k/share_short"],
            told: told.clone(),
            ..Bounds::of(self.request.count() as u32, false, scratch)
        };
        // Each segment has the bound of its first chunk.
        let long = Bounds {
            texts: &["top_k/share", "top_k/chunks", "top_k/share_chunks"],
            told,
            ..Bounds::of((self.request.n as u32).div_ceil(chunk), true, scratch)
        };
        vec![short, long]
    }

    /// How many keys a chunk has. None for rows and for one segment, whose tiles are shared evenly, and where a chunk would have all keys.
    fn chunk(&self) -> Option<u32> {
        let Some(Segments::Offsets { count: 2.., .. }) = self.request.segments else { return None };
        let planner = self.planner;
        let groups = u64::from(planner.resident(planner.tuning.top_k.groups_each)).max(1);
        let (each, about) = (self.request.n.div_ceil(groups), self.request.n.div_ceil(self.request.count().max(1)));
        let tiles = each.max(about.saturating_mul(ALONE)).div_ceil(self.tile());
        // With the keys before and behind a chunk a workgroup has less than three times as many.
        let most = u64::from(planner.most_tiles() / 3);
        let chunk = tiles.clamp(1, most) * self.tile();
        (chunk < self.request.n).then_some(chunk as u32)
    }

    /// Keys that a workgroup takes at a time.
    fn tile(&self) -> u64 {
        (self.planner.tuning.top_k.workgroup * self.rows()).into()
    }

    /// A kernel that reads the keys of all segments, in tiles that each one's workgroups share.
    fn reading(
        &self,
        (kernel, parts): (&'static Kernel, &[&'static str]),
        more: &[(&'static str, u32)],
        bounds: &Bounds,
        bindings: &[(&'static str, Region)],
        params: &[(&'static str, Param)],
    ) -> Step {
        let mut told = self.told_segments();
        told.parts.extend([&["top_k/bound_words", "top_k/bound_key"], bounds.texts, parts].concat());
        told.constants.extend([&[bounds.words()], more].concat());
        told.bindings.extend([&[("input", self.keys()), ("bound", bounds.region)], bindings].concat());
        let own = [("slots", bounds.slots), ("n", Param::ELEMENTS), self.input_offset()];
        told.params.extend([&own, &bounds.told[..], params].concat());
        self.launch((kernel, &told.parts), &told.constants, bounds.groups, told.bindings, told.params)
    }

    /// Finds the last key that is wanted, digit by digit of the keys and then of so many of their indices' digits, the highest first. Of
    /// each place it reads all keys, unless as many were found as there is room for.
    ///
    /// If it is to be the last and no later key of those that are as good, no digit is left out.
    pub(super) fn digits(&self, bounds: &Bounds, room: u32, index_places: u32) -> Vec<Step> {
        let constants = [
            ("ROWS", self.rows()),
            ("INDEX_PLACES", index_places),
            ("KEY_FIRST", self.image.bits.start),
            ("GIVES_LAST", self.gives_last()),
        ];
        let all = self.image.width().div_ceil(8) + index_places;
        // Alone a workgroup goes on with the next place, where nothing ends its loops.
        let together = if bounds.is_shared || self.planner.ends_loops() { 1 } else { all };
        let launch = |place| {
            let words = [("room", room), ("place", place), ("places", together)];
            let params = [&[self.k()], &words.map(|(name, word)| (name, Param::Word(word)))[..]].concat();
            self.reading((&DIGIT, &["top_k/digits"]), &constants, bounds, &[], &params)
        };
        (0..all).rev().step_by(together as usize).map(launch).collect()
    }

    /// The indices of the keys up to the bounds: for each segment as many as there is room for.
    pub(super) fn filter(&self, bounds: &Bounds, candidates: Region, room: u32, on_demand: bool) -> Step {
        let constants = [("ROWS", self.rows()), ("ON_DEMAND", on_demand.into()), ("GIVES_LAST", self.gives_last())];
        let params = [("room", Param::Word(room))];
        self.reading((&FILTER, &["top_k/up_to"]), &constants, bounds, &[("candidates", candidates)], &params)
    }

    /// Room for a flag of each key.
    pub(super) fn room_for_flags(&self, scratch: &mut Scratch) -> Region {
        scratch.take(self.request.n.next_multiple_of(FLAGS_EACH.into()))
    }

    /// A byte for each key: whether it comes up to the bound.
    pub(super) fn flags(&self, bounds: &Bounds, flags: Region, on_demand: bool) -> Step {
        let words = self.rows().div_ceil(FLAGS_EACH);
        let constants =
            [("ON_DEMAND", on_demand.into()), ("FLAGS", FLAGS_EACH), ("WORDS", words), ("ROWS", FLAGS_EACH * words)];
        self.reading((&FLAGS, &["top_k/up_to"]), &constants, bounds, &[("flags", flags)], &[])
    }
}
