// The vocabulary that the kernels share: WGSL's names for CUDA C's types and operations.

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef int i32;
typedef float f32;
typedef unsigned long long u64;
typedef long long i64;
typedef double f64;

#define FUNCTION __device__ __forceinline__

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

// Before a kernel touches memory: waits until the kernel before it has ended and its writes are there.
FUNCTION void follow_predecessor() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

// Once all of a kernel's blocks have been here, the blocks of the stream's next kernel may start, which then wait for its end.
FUNCTION void admit_successor() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

FUNCTION void workgroup_barrier() {
  __syncthreads();
}

// A word of workgroup memory, read by all between two barriers.
FUNCTION u32 workgroup_uniform_load(const u32 *word) {
  __syncthreads();
  const u32 value = *word;
  __syncthreads();
  return value;
}

// A word of which the compiler does not know how it was made.
FUNCTION u32 opaque_word(u32 word) {
  u32 made;
  asm volatile("mov.b32 %0, %1;" : "=r"(made) : "r"(word));
  return made;
}

// Relaxed accesses at device scope: one word is read or written whole, and nothing is ordered against another word.
FUNCTION u32 load_relaxed(const u32 *word) {
  u32 value;
  asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(word) : "memory");
  return value;
}

FUNCTION u64 load_relaxed(const u64 *word) {
  u64 value;
  asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(value) : "l"(word) : "memory");
  return value;
}

FUNCTION void store_relaxed(u32 *word, u32 value) {
  asm volatile("st.relaxed.gpu.global.u32 [%0], %1;" ::"l"(word), "r"(value) : "memory");
}

FUNCTION void store_relaxed(u64 *word, u64 value) {
  asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(word), "l"(value) : "memory");
}

// What this thread has written is seen by the whole device before what it writes from here on; and so with its reads.
FUNCTION void device_fence() {
  __threadfence();
}
