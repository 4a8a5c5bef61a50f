// scan/lookahead: single-pass scan by look-ahead. CUDA C alone (sm_90 on): only it has tile copies that one thread starts.
// A block stays: one warp loads tiles into a ring, some publish aggregates, one combines those between its tiles, others scan
// and store. No tile waits for another's prefix. Reads and writes each element once, a stuck tile again per block helping it.

#define WARP_PACKS (32u * ROWS)
#define TILE_PACKS (SCAN_WARPS * WARP_PACKS)
#define TILE (TILE_PACKS * PACK)
#define FIRST_REDUCE_WARP 2u
#define FIRST_SCAN_WARP (FIRST_REDUCE_WARP + REDUCE_WARPS)

extern __shared__ __align__(128) unsigned char shared_ring[];
// A stage is full, its tile has been reduced, its tile's prefix is known, and it may be loaded again: for that every thread but the
// loading warp's has arrived, as each has read the stage's ticket.
__shared__ TileBarrier shared_full[STAGES], shared_reduced[STAGES], shared_prefixed[STAGES], shared_empty[STAGES];
__shared__ u32 shared_tickets[STAGES];
__shared__ T shared_prefixes[STAGES];
__shared__ T shared_reduce_totals[REDUCE_WARPS];
__shared__ u32 shared_ward_waits;
__shared__ __align__(16) T shared_scan_totals[SCAN_WARPS];

// A lane's consecutive packs, in order. (An odd number of 16-byte packs keeps lanes off each other's banks.)
FUNCTION T tile_lane_fold(const Pack *packs) {
  T folded = pack_fold(packs[0]);
#pragma unroll
  for (u32 k = 1u; k < ROWS; k++) { folded = combine(folded, pack_fold(packs[k])); }
  return folded;
}

// The share of a reduce warp in a full tile's aggregate: the elements of some scan warps, in order. All are loaded before any
// is combined with another lane's.
FUNCTION T tile_warp_fold(const Pack *tile_packs, u32 warp, u32 lane) {
  const u32 share = SCAN_WARPS / REDUCE_WARPS;
  T lanes[SCAN_WARPS / REDUCE_WARPS];
#pragma unroll
  for (u32 i = 0u; i < share; i++) {
    lanes[i] = tile_lane_fold(tile_packs + (warp * share + i) * WARP_PACKS + lane * ROWS);
  }
  T folded;
#pragma unroll
  for (u32 i = 0u; i < share; i++) {
    const T all = subgroup_shuffle_element(subgroup_inclusive_scan(lanes[i], lane), 31u);
    folded = i == 0u ? all : combine(folded, all);
  }
  return folded;
}

// The aggregate of a full tile by one warp, by the very combines that its owner makes.
FUNCTION T tile_aggregate(const Pack *tile_packs, u32 lane) {
  T total = tile_warp_fold(tile_packs, 0u, lane);
  for (u32 warp = 1u; warp < REDUCE_WARPS; warp++) { total = combine(total, tile_warp_fold(tile_packs, warp, lane)); }
  return total;
}

// The reduce warps' shares of a tile, together.
FUNCTION T reduce_warps_total() {
  T total = shared_reduce_totals[0];
  for (u32 i = 1u; i < REDUCE_WARPS; i++) { total = combine(total, shared_reduce_totals[i]); }
  return total;
}

extern "C" __global__ void __launch_bounds__(WORKGROUP, 1) scan_lookahead(ARGUMENTS) {
  admit_successor();
  follow_predecessor();
  const u32 lane = threadIdx.x % 32u;
  const u32 warp = threadIdx.x / 32u;
  Pack *ring = (Pack *)shared_ring;
  input += params.input_offset;
  output += params.output_offset;
  if (threadIdx.x == 0u) {
    for (u32 s = 0u; s < STAGES; s++) {
      tile_barrier_init(&shared_full[s], 1u);
      tile_barrier_init(&shared_reduced[s], 32u * REDUCE_WARPS);
      tile_barrier_init(&shared_prefixed[s], 1u);
      tile_barrier_init(&shared_empty[s], WORKGROUP - 32u);
    }
    tile_barrier_init_done();
  }
  workgroup_barrier();

  // 1. Load: take the next tile and bring it into the next stage, as soon as that is free.
  if (warp == 0u) {
    for (u32 turn = 0u; lane == 0u; turn++) {
      const u32 s = turn % STAGES;
      if (turn >= STAGES) { tile_barrier_wait(&shared_empty[s], (turn / STAGES - 1u) % 2u); }
      // Every block takes one ticket past the last tile's.
      const u32 taken = ticket_take(ticket, params.tiles + gridDim.x);
      shared_tickets[s] = taken;
      const u32 tile = taken % TICKETS;
      if (tile >= params.tiles) {
        tile_barrier_arrive(&shared_full[s]);
        break;
      }
      const u32 valid = min(params.n - tile * TILE, TILE);
      const u32 packs = (valid + PACK - 1u) / PACK;
      bulk_load(
        ring + s * TILE_PACKS, input + (size_t)tile * TILE_PACKS, packs * (u32)sizeof(Pack), &shared_full[s]);
    }
    return;
  }

  // 2. Look ahead: combine the aggregates of the tiles before, in chunks of 32 that begin at multiples of 32. So the combines, and
  // with them a float's bits, do not depend on which tiles a block took. A tile that is stuck is folded here.
  if (warp == 1u) {
    // The combination of all tiles before a chunk.
    T before_chunk = params.initial;
    u32 chunk = 0u;
    for (u32 turn = 0u;; turn++) {
      const u32 s = turn % STAGES;
      tile_barrier_wait(&shared_full[s], turn / STAGES % 2u);
      const u32 tile = shared_tickets[s] % TICKETS;
      const u32 epoch = shared_tickets[s] / TICKETS;
      if (tile >= params.tiles) {
        // States that a run of more elements uses. Each block has another ticket past the last tile's.
        for (u32 spare = tile + lane * gridDim.x; spare < params.slots; spare += 32u * gridDim.x) {
          state_blank(states, params.slots, epoch, spare);
        }
        break;
      }
      T prefix = before_chunk;
      u32 polls = 0u;
      // Two chunks are on their way at a time: so it catches up after a wait.
      for (bool more = chunk < tile; more;) {
        State both[2];
#pragma unroll
        for (u32 k = 0u; k < 2u; k++) {
          both[k].status = STATUS_AGGREGATE;
          both[k].value = identity();
          const u32 at = chunk + k * 32u + lane;
          if (at < tile) { both[k] = state_read(states, params.slots, epoch, at); }
        }
        const u32 missing = subgroup_first(both[0].status == STATUS_NONE, 32u);
        if (missing < 32u) {
          polls++;
          if (polls < SPIN_LIMIT) { continue; }
          const u32 stuck = chunk + missing;
          const T aggregate = tile_aggregate(input + (size_t)stuck * TILE_PACKS, lane);
          if (lane == 0u) { state_help(states, params.slots, epoch, stuck, aggregate); }
          continue;
        }
        polls = 0u;
#pragma unroll
        for (u32 k = 0u; k < 2u; k++) {
          if (!more || subgroup_first(both[k].status == STATUS_NONE, 32u) < 32u) { break; }
          const u32 count = min(tile - chunk, 32u);
          const T all = subgroup_shuffle_element(subgroup_inclusive_scan(both[k].value, lane), count - 1u);
          prefix = combine(before_chunk, all);
          // The tile's own chunk is not whole yet: the next tile begins with it again.
          if (count == 32u) {
            before_chunk = prefix;
            chunk += 32u;
          }
          more = count == 32u && chunk < tile;
        }
      }
      if (lane == 0u) {
        shared_prefixes[s] = prefix;
        tile_barrier_arrive(&shared_prefixed[s]);
      }
      tile_barrier_arrive(&shared_empty[s]);
    }
    return;
  }

  // 3. Reduce: publish a tile's aggregate. The last tile's concerns nobody. Then look after a ward, the tile that was taken
  // gridDim.x tickets before and should be published by now: if it is stuck it is folded here.
  if (warp < FIRST_SCAN_WARP) {
    const bool leads = warp == FIRST_REDUCE_WARP && lane == 0u;
    for (u32 turn = 0u;; turn++) {
      const u32 s = turn % STAGES;
      tile_barrier_wait(&shared_full[s], turn / STAGES % 2u);
      const u32 taken = shared_tickets[s];
      const u32 tile = taken % TICKETS;
      if (tile >= params.tiles) { break; }
      if (tile + 1u < params.tiles) {
        const T folded = tile_warp_fold(ring + s * TILE_PACKS, warp - FIRST_REDUCE_WARP, lane);
        if (lane == 0u) { shared_reduce_totals[warp - FIRST_REDUCE_WARP] = folded; }
      }
      // Every lane says that it has read the stage, which is written over from here on.
      tile_barrier_arrive(&shared_reduced[s]);
      tile_barrier_arrive(&shared_empty[s]);
      warps_barrier(1u, REDUCE_WARPS);
      if (leads && tile + 1u < params.tiles) {
        const u32 status = tile_publishes(ticket, tile) ? STATUS_AGGREGATE : STATUS_NONE;
        state_publish(states, params.slots, taken / TICKETS, tile, status, reduce_warps_total());
      }
      if (leads && tile + 1u == params.tiles) { state_blank(states, params.slots, taken / TICKETS, tile); }
      const u32 ward = tile - gridDim.x;
      if (leads) {
        bool waits = tile >= gridDim.x;
        for (u32 polls = 0u; waits && polls < WARD_POLLS; polls++) {
          waits = state_read(states, params.slots, taken / TICKETS, ward).status == STATUS_NONE;
        }
        shared_ward_waits = waits;
      }
      warps_barrier(1u, REDUCE_WARPS);
      if (shared_ward_waits == 0u) { continue; }
      const T folded = tile_warp_fold(input + (size_t)ward * TILE_PACKS, warp - FIRST_REDUCE_WARP, lane);
      if (lane == 0u) { shared_reduce_totals[warp - FIRST_REDUCE_WARP] = folded; }
      warps_barrier(1u, REDUCE_WARPS);
      if (leads) { state_help(states, params.slots, taken / TICKETS, ward, reduce_warps_total()); }
      warps_barrier(1u, REDUCE_WARPS);
    }
    return;
  }

  // 4. Scan: each lane takes ROWS packs; then scan them from the prefix, in place, and store the tile.
  const u32 scanner = warp - FIRST_SCAN_WARP;
  const bool stores = scanner == 0u && lane == 0u;
  for (u32 turn = 0u;; turn++) {
    const u32 s = turn % STAGES;
    tile_barrier_wait(&shared_full[s], turn / STAGES % 2u);
    const u32 tile = shared_tickets[s] % TICKETS;
    if (tile >= params.tiles) { break; }
    Pack *stage = ring + s * TILE_PACKS;
    const u32 first = scanner * WARP_PACKS + lane * ROWS;
    const u32 valid = min(params.n - tile * TILE, TILE);
    Pack rows[ROWS];
    if (valid == TILE) {
#pragma unroll
      for (u32 k = 0u; k < ROWS; k++) { rows[k] = stage[first + k]; }
    } else {
#pragma unroll
      for (u32 k = 0u; k < ROWS; k++) { rows[k] = load_pack(stage, first + k, valid, identity()); }
    }
    T folds[ROWS];
    T total = folds[0] = pack_fold(rows[0]);
#pragma unroll
    for (u32 k = 1u; k < ROWS; k++) {
      folds[k] = pack_fold(rows[k]);
      total = combine(total, folds[k]);
    }
    const T inclusive = subgroup_inclusive_scan(total, lane);
    const T exclusive = subgroup_shuffle_element_up(inclusive, 1u);
    if (lane == 31u) { shared_scan_totals[scanner] = inclusive; }
    warps_barrier(2u, SCAN_WARPS);
    T before = identity();
#pragma unroll
    for (u32 i = 0u; i < SCAN_WARPS; i++) {
      if (i < scanner) { before = combine(before, shared_scan_totals[i]); }
    }
    if (lane > 0u) { before = combine(before, exclusive); }
    // The stage is written over: the reduce warps must have read it.
    tile_barrier_wait(&shared_reduced[s], turn / STAGES % 2u);
    tile_barrier_wait(&shared_prefixed[s], turn / STAGES % 2u);
    T running = combine(shared_prefixes[s], before);
    if (valid == TILE) {
#pragma unroll
      for (u32 k = 0u; k < ROWS; k++) {
        stage[first + k] = pack_scan(rows[k], running);
        running = combine(running, folds[k]);
      }
      bulk_store_ready();
    } else {
      Pack *target = output + (size_t)tile * TILE_PACKS;
#pragma unroll
      for (u32 k = 0u; k < ROWS; k++) {
        store_pack(target, first + k, valid, pack_scan(rows[k], running));
        running = combine(running, folds[k]);
      }
    }
    warps_barrier(2u, SCAN_WARPS);
    if (stores) {
      // One that is not full is the last: that nothing is stored here in bulk lets no stage go that is needed again.
      if (valid == TILE) { bulk_store(output + (size_t)tile * TILE_PACKS, stage, TILE_PACKS * (u32)sizeof(Pack)); }
      bulk_store_wait_but_last();
    }
    // The stage before has been stored.
    if (turn > 0u) { tile_barrier_arrive(&shared_empty[(turn - 1u) % STAGES]); }
  }
  if (stores) { bulk_store_wait(); }
}
