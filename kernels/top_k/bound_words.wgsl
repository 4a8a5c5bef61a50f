// top_k/bound_words: what the memory of a bound has: the image of a key in its first words, and behind it these.

// Where that key stands.
const BOUND_INDEX: u32 = 4u;
// How many keys come no later than the bound.
const BOUND_FOUND: u32 = 5u;
// How many keys are wanted of those that have the bound's digits so far.
const BOUND_RANK: u32 = 6u;
// How many workgroups have counted a digit.
const BOUND_ARRIVALS: u32 = 7u;
// Whether digits were counted: the bound is the last key that is wanted.
const BOUND_IS_EXACT: u32 = 8u;
// The counts of a digit's values.
const BOUND_COUNTS: u32 = 9u;
