// literature/scan/state_fenced: a tile's state as published: a status beside plain values, ordered by fences. Aggregates and prefixes
// have places of their own, so that a value is never changed once its status is out. OpenCL C and CUDA C alone: WGSL's only
// fence is `storageBarrier`, which a whole workgroup reaches together, so it has literature/scan/lookback_fenced.

typedef u32 StateWord;

struct State {
  u32 status;
  T value;
};

// Where the words of a tile's aggregate or prefix begin, behind the statuses.
FUNCTION u32 state_first(u32 slots, u32 tile, u32 status) {
  return slots + ((status == STATUS_PREFIX ? slots : 0u) + tile) * ELEMENT_WORDS;
}

FUNCTION void state_write(StateWord *states, u32 slots, u32 tile, u32 status, T value) {
  const Words words = element_to_words(value);
  volatile StateWord *to = states + state_first(slots, tile, status);
#pragma unroll
  for (u32 i = 0u; i < ELEMENT_WORDS; i++) { to[i] = words.w[i]; }
}

// The value first, the status after the fence.
FUNCTION void state_publish(StateWord *states, u32 slots, u32 epoch, u32 tile, u32 status, T value) {
  if (status == STATUS_NONE) { return; }
  state_write(states, slots, tile, status, value);
  device_fence();
  store_relaxed(&states[tile], epoch << 2u | status);
}

// Says of a tile that a run has none of it, so that no later epoch takes an older word for its own.
FUNCTION void state_blank(StateWord *states, u32 slots, u32 epoch, u32 tile) {
  store_relaxed(&states[tile], epoch << 2u | STATUS_NONE);
}

// Publishes another tile's aggregate, unless it has been published by now: the same bits as that tile would.
FUNCTION void state_help(StateWord *states, u32 slots, u32 epoch, u32 tile, T aggregate) {
  const u32 old = load_relaxed(&states[tile]);
  if (old >> 2u == epoch && (old & 3u) != STATUS_NONE) { return; }
  state_write(states, slots, tile, STATUS_AGGREGATE, aggregate);
  device_fence();
  atomicCAS(&states[tile], old, epoch << 2u | STATUS_AGGREGATE);
}

FUNCTION State state_read(const StateWord *states, u32 slots, u32 epoch, u32 tile) {
  const u32 word = load_relaxed(&states[tile]);
  device_fence();
  const u32 status = word >> 2u == epoch ? word & 3u : STATUS_NONE;
  const volatile StateWord *from = states + state_first(slots, tile, status);
  Words words;
#pragma unroll
  for (u32 i = 0u; i < ELEMENT_WORDS; i++) { words.w[i] = from[i]; }
  State state = {status, element_from_words(words)};
  return state;
}
