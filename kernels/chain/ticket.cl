// chain/ticket: which tile a workgroup scans, in which epoch of the plan, and whether it publishes the tile.

// Takes the next ticket of so many. Whoever takes the last one begins the next epoch's, whose states bear another number: nothing
// is cleared in between.
u32 ticket_take(__global u32 *ticket, u32 takes) {
  const u32 taken = atomic_add_u32(&ticket[0], 1u);
  if (taken % TICKETS == takes - 1u) { atomic_add_u32(&ticket[0], TICKETS - takes); }
  return taken;
}

// Tests make some tiles silent or late.
bool tile_publishes(__global u32 *ticket, u32 tile) {
  if (FAULT == 0u || tile % FAULT_EVERY != FAULT_EVERY - 1u) { return true; }
  if (FAULT == 1u) { return false; }
  for (u32 i = 0u; i < 2000u; i++) { atomic_add_u32(&ticket[1], 1u); }
  return true;
}
