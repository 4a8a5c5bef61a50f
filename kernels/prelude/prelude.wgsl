// The vocabulary that the kernels share. WGSL has the types; what it lacks is named here.

// What a tile has published of itself. The order matters: a state grows, but that a late
// owner's may replace what others found for it, who find it again.
const STATUS_NONE: u32 = 0u;
const STATUS_AGGREGATE: u32 = 1u;
const STATUS_PREFIX: u32 = 2u;

const DIGITS: u32 = 256u;

// What a launch of a scan of several launches does with its tiles: see scan/tile_block.
const TASK_SUM: u32 = 0u;
const TASK_LOCAL: u32 = 1u;
const TASK_FROM: u32 = 2u;

// The steps of literature/scan/blelloch.
const STEP_LEAVES: u32 = 0u;
const STEP_UP: u32 = 1u;
const STEP_CLEAR: u32 = 2u;
const STEP_DOWN: u32 = 3u;

// A ticket's low 24 bits are a tile's number, those above them the epoch.
const TICKETS: u32 = 0x1000000u;

