// chain/ticket: which tile a workgroup scans, in which epoch of the plan, and whether it publishes the tile.

// Takes the next ticket of so many. Whoever takes the last one begins the next epoch's, whose states bear another number: nothing
// is cleared in between.
fn ticket_take(takes: u32) -> u32 {
  let taken = atomicAdd(&ticket[0], 1u);
  if (taken % TICKETS == takes - 1u) { atomicAdd(&ticket[0], TICKETS - takes); }
  return taken;
}

// Tests make some tiles silent or late.
fn tile_publishes(tile: u32) -> bool {
  if (FAULT == 0u || tile % FAULT_EVERY != FAULT_EVERY - 1u) { return true; }
  if (FAULT == 1u) { return false; }
  for (var i = 0u; i < 2000u; i++) { atomicAdd(&ticket[1], 1u); }
  return true;
}
