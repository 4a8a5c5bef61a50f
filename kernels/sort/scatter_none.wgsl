// sort/scatter_none: a sort of keys alone. Only in WGSL, where sort/scatter brings a tile in order by parts, which through
// Vulkan is faster. OpenCL C and CUDA C bring a whole tile in order, and have sort/values_none.

fn load_values(source: u32, first: u32, width: u32, word: u32, moved: ptr<function, array<u32, ITEMS>>) {
}

fn store_values(destination: u32, word: u32, begin: u32, count: u32, targets: ptr<function, array<u32, BATCH>>) {
}
