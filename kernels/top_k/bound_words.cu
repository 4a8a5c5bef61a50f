// top_k/bound_words: what the memory of a bound has: the image of a key in its first words, and behind it these.

// Where that key stands.
#define BOUND_INDEX 4u
// How many keys come no later than the bound.
#define BOUND_FOUND 5u
// How many keys are wanted of those that have the bound's digits so far.
#define BOUND_RANK 6u
// How many workgroups have counted a digit.
#define BOUND_ARRIVALS 7u
// Whether digits were counted: the bound is the last key that is wanted.
#define BOUND_IS_EXACT 8u
// The counts of a digit's values.
#define BOUND_COUNTS 9u
