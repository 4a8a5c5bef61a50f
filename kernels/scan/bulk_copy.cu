// scan/bulk_copy: copies of whole tiles between global and shared memory that one thread starts and the hardware makes, the
// barriers in shared memory that tell of their arrival, and barriers of some of a block's warps. CUDA C alone, from sm_90 on:
// neither WGSL nor OpenCL C has such copies, nor barriers of less than a workgroup.

typedef u64 TileBarrier;

FUNCTION u32 shared_address(const void *p) {
  return (u32)__cvta_generic_to_shared(p);
}

// A barrier that so many arrivals complete, counted in phases.
FUNCTION void tile_barrier_init(TileBarrier *barrier, u32 arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(barrier)), "r"(arrivals));
}

// Makes initialised barriers known to the copies; a block's barrier must follow.
FUNCTION void tile_barrier_init_done() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

FUNCTION void tile_barrier_arrive(TileBarrier *barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(barrier)) : "memory");
}

// Waits until the phase of this parity has ended.
FUNCTION void tile_barrier_wait(TileBarrier *barrier, u32 parity) {
  asm volatile(
    "{\n.reg .pred p;\nAGAIN: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n@p bra DONE;\nbra AGAIN;\nDONE:\n}" ::"r"(
      shared_address(barrier)),
    "r"(parity)
    : "memory");
}

// Starts a copy of a multiple of 16 bytes, which the barrier's phase waits for.
FUNCTION void bulk_load(void *to, const void *from, u32 bytes, TileBarrier *barrier) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(barrier)), "r"(bytes)
               : "memory");
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                 shared_address(to)),
               "l"(from), "r"(bytes), "r"(shared_address(barrier))
               : "memory");
}

// What this thread has written to shared memory is for copies to read, after a barrier.
FUNCTION void bulk_store_ready() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

FUNCTION void bulk_store(void *to, const void *from, u32 bytes) {
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to), "r"(shared_address(from)),
               "r"(bytes)
               : "memory");
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}

// Waits until all stores of this thread but the last have read what they store.
FUNCTION void bulk_store_wait_but_last() {
  asm volatile("cp.async.bulk.wait_group.read 1;" ::: "memory");
}

FUNCTION void bulk_store_wait() {
  asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}

// A barrier of `warps` warps; `id` from 1 on tells it from others of the block.
FUNCTION void warps_barrier(u32 id, u32 warps) {
  asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(warps * 32u) : "memory");
}
