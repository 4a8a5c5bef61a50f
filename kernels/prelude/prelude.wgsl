// The vocabulary that the kernels share. WGSL has the types; what it lacks is named here.

// What a tile has published of itself. The order matters: a state only ever grows.
const STATUS_NONE: u32 = 0u;
const STATUS_AGGREGATE: u32 = 1u;
const STATUS_PREFIX: u32 = 2u;

const DIGITS: u32 = 256u;

// A ticket's low 24 bits are a tile's number, those above them the run's of the plan.
const TICKETS: u32 = 0x1000000u;

