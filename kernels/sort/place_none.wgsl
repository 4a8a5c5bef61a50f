// sort/place_none: a sort of keys alone.

fn place_values(segment: Segment, seat: u32, stride: u32, origins: ptr<function, array<u32, ITEMS>>) {
}
