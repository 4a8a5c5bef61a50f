// top_k/part: what a workgroup takes.

// Where the keys begin and end, where their segment begins, and where what is selected of them goes.
struct Part {
  first: u32,
  end: u32,
  segment_begin: u32,
  slot: u32,
}

// Nothing is to be taken.
const NO_SLOT: u32 = 0xffffffffu;
