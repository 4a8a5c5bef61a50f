// The vocabulary that the kernels share: WGSL's names for OpenCL C's types and operations.

#pragma OPENCL FP_CONTRACT OFF
#ifdef cl_khr_fp64
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#endif
#ifdef cl_khr_int64_base_atomics
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
#pragma OPENCL EXTENSION cl_khr_int64_extended_atomics : enable
#endif

typedef uchar u8;
typedef ushort u16;
typedef uint u32;
typedef int i32;
typedef float f32;
typedef ulong u64;
typedef long i64;
#ifdef cl_khr_fp64
typedef double f64;
#endif

// A function that takes arrays of a kernel's registers: by a call they would be in memory.
#define INLINED __attribute__((always_inline))

// A kernel requires its workgroups' size, but where RESIDENT bounds its registers: NVIDIA's assembler, which does that, passes over kernels
// that require one.
#ifdef RESIDENT
#define KERNEL __kernel
#else
#define KERNEL __kernel __attribute__((reqd_work_group_size(WORKGROUP, 1, 1)))
#endif

// What a tile has published of itself. The order matters: a state grows, but that a late
// owner's may replace what others found for it, who find it again.
#define STATUS_NONE 0u
#define STATUS_AGGREGATE 1u
#define STATUS_PREFIX 2u

#define DIGITS 256u

// What a launch of a scan of several launches does with its tiles: see scan/tile_block.
#define TASK_SUM 0u
#define TASK_LOCAL 1u
#define TASK_FROM 2u

// The steps of literature/scan/blelloch.
#define STEP_LEAVES 0u
#define STEP_UP 1u
#define STEP_CLEAR 2u
#define STEP_DOWN 3u

// A ticket's low 24 bits are a tile's number, those above them the epoch.
#define TICKETS 0x1000000u

void workgroup_barrier() {
  barrier(CLK_LOCAL_MEM_FENCE);
}

// Orders accesses to device memory within the workgroup too.
void workgroup_storage_barrier() {
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
}

// A word of workgroup memory, read by all between two barriers.
u32 workgroup_uniform_load(__local const u32 *word) {
  barrier(CLK_LOCAL_MEM_FENCE);
  const u32 value = *word;
  barrier(CLK_LOCAL_MEM_FENCE);
  return value;
}

// A word of which the compiler does not know how it was made: it keeps the word, where it would keep all that the word was made of.
u32 opaque_word(u32 word) {
#ifdef __NV_CL_C_VERSION
  asm volatile("" : "+r"(word));
#endif
  return word;
}

// Relaxed accesses at device scope: one word is read or written whole, and nothing is ordered against another word.
// OpenCL C 1.2 has no atomic loads and stores but NVIDIA's PTX does; elsewhere read-modify-write stands in.
#ifdef __NV_CL_C_VERSION
// Before Volta PTX has no relaxed accesses; volatile ones are whole, and go past the L1 cache.
#ifdef VOLATILE_STATES
#define RELAXED "volatile"
#else
#define RELAXED "relaxed.gpu"
#endif

u32 load_relaxed_u32(__global const u32 *word) {
  u32 value;
  asm volatile("ld." RELAXED ".global.u32 %0, [%1];" : "=r"(value) : "l"(word) : "memory");
  return value;
}

void store_relaxed_u32(__global u32 *word, u32 value) {
  asm volatile("st." RELAXED ".global.u32 [%0], %1;" : : "l"(word), "r"(value) : "memory");
}

u64 load_relaxed_u64(__global const u64 *word) {
  u64 value;
  asm volatile("ld." RELAXED ".global.u64 %0, [%1];" : "=l"(value) : "l"(word) : "memory");
  return value;
}

void store_relaxed_u64(__global u64 *word, u64 value) {
  asm volatile("st." RELAXED ".global.u64 [%0], %1;" : : "l"(word), "l"(value) : "memory");
}
#else
u32 load_relaxed_u32(__global u32 *word) {
  return atomic_or(word, 0u);
}

void store_relaxed_u32(__global u32 *word, u32 value) {
  atomic_xchg(word, value);
}

#ifdef cl_khr_int64_base_atomics
u64 load_relaxed_u64(__global u64 *word) {
  return atom_or(word, 0ul);
}

void store_relaxed_u64(__global u64 *word, u64 value) {
  atom_xchg(word, value);
}
#endif
#endif

u32 atomic_add_u32(__global u32 *word, u32 value) {
  return atomic_add(word, value);
}

// Writes `value` if the word is still `old`.
void atomic_replace_u32(__global u32 *word, u32 old, u32 value) {
  atomic_cmpxchg(word, old, value);
}

#ifdef cl_khr_int64_base_atomics
void atomic_replace_u64(__global u64 *word, u64 old, u64 value) {
  atom_cmpxchg(word, old, value);
}
#endif

// What this invocation has written is seen by the whole device before what it writes from here on; and so with its reads. OpenCL C
// 1.2 promises a workgroup only; every driver that was tried does more.
void device_fence() {
#ifdef __NV_CL_C_VERSION
  asm volatile("membar.gl;" : : : "memory");
#else
  mem_fence(CLK_GLOBAL_MEM_FENCE);
#endif
}
