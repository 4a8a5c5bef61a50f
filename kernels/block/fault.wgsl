// block/fault: whether a tile of a scan publishes itself.

// Tests make some tiles silent or late.
fn tile_publishes(tile: u32) -> bool {
  if (FAULT == 0u || tile % FAULT_EVERY != FAULT_EVERY - 1u) { return true; }
  if (FAULT == 1u) { return false; }
  for (var i = 0u; i < 2000u; i++) { atomicAdd(&ticket[1], 1u); }
  return true;
}
