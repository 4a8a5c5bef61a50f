// block/fault: whether a tile of a scan publishes itself.

// Tests make some tiles silent or late.
bool tile_publishes(__global u32 *ticket, u32 tile) {
  if (FAULT == 0u || tile % FAULT_EVERY != FAULT_EVERY - 1u) { return true; }
  if (FAULT == 1u) { return false; }
  for (u32 i = 0u; i < 2000u; i++) { atomic_add(&ticket[1], 1u); }
  return true;
}
