// literature/scan/state_fenced: a tile's state as published: a status beside plain values, ordered by fences. Aggregates and prefixes
// have places of their own, so that a value is never changed once its status is out. OpenCL C and CUDA C alone: WGSL's only
// fence is `storageBarrier`, which a whole workgroup reaches together, so it has literature/scan/lookback_fenced.

typedef u32 StateWord;

typedef struct {
  u32 status;
  T value;
} State;

// Where the words of a tile's aggregate or prefix begin, behind the statuses.
u32 state_first(u32 slots, u32 tile, u32 status) {
  return slots + ((status == STATUS_PREFIX ? slots : 0u) + tile) * ELEMENT_WORDS;
}

void state_write(__global StateWord *states, u32 slots, u32 tile, u32 status, T value) {
  const Words words = element_to_words(value);
  volatile __global StateWord *to = states + state_first(slots, tile, status);
#pragma unroll
  for (u32 i = 0u; i < ELEMENT_WORDS; i++) { to[i] = words.w[i]; }
}

// The value first, the status after the fence.
void state_publish(__global StateWord *states, u32 slots, u32 epoch, u32 tile, u32 status, T value) {
  if (status == STATUS_NONE) { return; }
  state_write(states, slots, tile, status, value);
  device_fence();
  store_relaxed_u32(&states[tile], epoch << 2u | status);
}

// Says of a tile that a run has none of it, so that no later epoch takes an older word for its own.
void state_blank(__global StateWord *states, u32 slots, u32 epoch, u32 tile) {
  store_relaxed_u32(&states[tile], epoch << 2u | STATUS_NONE);
}

// Publishes another tile's aggregate, unless it has been published by now: the same bits as that tile would.
void state_help(__global StateWord *states, u32 slots, u32 epoch, u32 tile, T aggregate) {
  const u32 old = load_relaxed_u32(&states[tile]);
  if (old >> 2u == epoch && (old & 3u) != STATUS_NONE) { return; }
  state_write(states, slots, tile, STATUS_AGGREGATE, aggregate);
  device_fence();
  atomic_replace_u32(&states[tile], old, epoch << 2u | STATUS_AGGREGATE);
}

State state_read(__global StateWord *states, u32 slots, u32 epoch, u32 tile) {
  const u32 word = load_relaxed_u32(&states[tile]);
  device_fence();
  const u32 status = word >> 2u == epoch ? word & 3u : STATUS_NONE;
  volatile __global StateWord *from = states + state_first(slots, tile, status);
  Words words;
#pragma unroll
  for (u32 i = 0u; i < ELEMENT_WORDS; i++) { words.w[i] = from[i]; }
  State state = {status, element_from_words(words)};
  return state;
}
