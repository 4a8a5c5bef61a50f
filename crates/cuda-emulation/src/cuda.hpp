// What CUDA C gives a kernel, for the host's C++ compiler: one thread of a launch at a time runs, until a rendezvous with others or a
// poll of memory ends its turn. The scheduler behind `emulation` (run.rs) says whose turn is next.

#define __device__
#define __forceinline__ static inline
#define __global__ __attribute__((visibility("default")))
#define __launch_bounds__(...)
#define __align__(bytes) __attribute__((aligned(bytes)))
// A block's own memory: the scheduler swaps this section where another block's turn begins. (Were it static, the compiler might think
// that nobody else touches it meanwhile.)
#define __shared__ __attribute__((section("block_shared")))

typedef unsigned int emulated_u32;
typedef unsigned long long emulated_u64;

struct Index {
  emulated_u32 x;
};

struct Emulation {
  Index thread, block, threads, blocks;
  // Ends this thread's turn: see `Pause`.
  void (*pause)(emulated_u32 why, emulated_u32 id, emulated_u32 count);
  // The words that a warp's lanes bring to a rendezvous of them all, which name the same operation.
  const emulated_u32 *(*exchange)(emulated_u32 word, emulated_u32 operation);
};

extern "C" {
__attribute__((visibility("default"))) Emulation *emulation = nullptr;
extern char __start_block_shared[] __attribute__((weak, visibility("hidden")));
extern char __stop_block_shared[] __attribute__((weak, visibility("hidden")));
__attribute__((visibility("default"))) void emulated_shared(char **start, char **stop) {
  *start = __start_block_shared;
  *stop = __stop_block_shared;
}
float floorf(float), ceilf(float), truncf(float), rintf(float), sqrtf(float), fabsf(float), fminf(float, float), fmaxf(float, float);
float sinf(float), cosf(float), tanf(float), asinf(float), acosf(float), atanf(float), atan2f(float, float), sinhf(float), coshf(float);
float tanhf(float), asinhf(float), acoshf(float), atanhf(float), expf(float), exp2f(float), logf(float), log2f(float), powf(float, float);
float fmaf(float, float, float), ldexpf(float, int), frexpf(float, int *), fmodf(float, float), copysignf(float, float);
double floor(double), ceil(double), trunc(double), rint(double), sqrt(double), fabs(double), fmin(double, double), fmax(double, double);
double sin(double), cos(double), tan(double), asin(double), acos(double), atan(double), atan2(double, double), sinh(double), cosh(double);
double tanh(double), asinh(double), acosh(double), atanh(double), exp(double), exp2(double), log(double), log2(double);
double pow(double, double), fma(double, double, double), ldexp(double, int), fmod(double, double), copysign(double, double);
void *memcpy(void *, const void *, __SIZE_TYPE__);
}

#define threadIdx (emulation->thread)
#define blockIdx (emulation->block)
#define blockDim (emulation->threads)
#define gridDim (emulation->blocks)

typedef __SIZE_TYPE__ size_t;

// Vectors, whole at their own alignment.
#define VECTORS(scalar, name, alignment4)                                     \
  struct __align__(2 * sizeof(scalar)) name##2 { scalar x, y; };              \
  struct __align__(alignment4) name##4 { scalar x, y, z, w; };
VECTORS(unsigned int, uint, 16)
VECTORS(int, int, 16)
VECTORS(float, float, 16)
VECTORS(unsigned long long, ulonglong, 16)
VECTORS(long long, longlong, 16)
VECTORS(double, double, 16)
VECTORS(unsigned char, uchar, 4)
VECTORS(unsigned short, ushort, 8)

#define PAUSE_POLL 0u
#define PAUSE_BLOCK 1u
#define PAUSE_BARRIER 2u

static inline void __syncthreads() { emulation->pause(PAUSE_BLOCK, 0u, 0u); }
static inline void __threadfence() {}

static inline emulated_u32 __shfl_sync(emulated_u32, emulated_u32 word, emulated_u32 lane) {
  return emulation->exchange(word, 1u)[lane % 32u];
}
static inline emulated_u32 __shfl_up_sync(emulated_u32, emulated_u32 word, emulated_u32 delta) {
  const emulated_u32 lane = threadIdx.x % 32u;
  const emulated_u32 *words = emulation->exchange(word, 2u);
  return lane >= delta ? words[lane - delta] : word;
}
static inline emulated_u32 __shfl_down_sync(emulated_u32, emulated_u32 word, emulated_u32 delta) {
  const emulated_u32 lane = threadIdx.x % 32u;
  const emulated_u32 *words = emulation->exchange(word, 3u);
  return lane + delta < 32u ? words[lane + delta] : word;
}
static inline emulated_u32 __ballot_sync(emulated_u32, int condition) {
  const emulated_u32 *words = emulation->exchange(condition != 0, 4u);
  emulated_u32 lanes = 0u;
  for (emulated_u32 i = 0u; i < 32u; i++) { lanes |= words[i] << i; }
  return lanes;
}
static inline void __syncwarp() { emulation->exchange(0u, 5u); }
// Other types travel by their bits.
#define SHUFFLES(W)                                                                                  \
  static inline W __shfl_sync(emulated_u32 all, W v, emulated_u32 lane) {                            \
    return __builtin_bit_cast(W, __shfl_sync(all, __builtin_bit_cast(emulated_u32, v), lane));       \
  }                                                                                                  \
  static inline W __shfl_up_sync(emulated_u32 all, W v, emulated_u32 delta) {                        \
    return __builtin_bit_cast(W, __shfl_up_sync(all, __builtin_bit_cast(emulated_u32, v), delta));   \
  }                                                                                                  \
  static inline W __shfl_down_sync(emulated_u32 all, W v, emulated_u32 delta) {                      \
    return __builtin_bit_cast(W, __shfl_down_sync(all, __builtin_bit_cast(emulated_u32, v), delta)); \
  }
SHUFFLES(int)
SHUFFLES(float)

// Turns end at rendezvous and polls alone, so these are whole.
template <typename W> static inline W atomicAdd(W *word, W more) {
  const W old = *word;
  *word = old + more;
  return old;
}
template <typename W> static inline W atomicExch(W *word, W other) {
  const W old = *word;
  *word = other;
  return old;
}
template <typename W> static inline W atomicMax(W *word, W other) {
  const W old = *word;
  if (other > old) { *word = other; }
  return old;
}
template <typename W> static inline W atomicOr(W *word, W other) {
  const W old = *word;
  *word = old | other;
  return old;
}
template <typename W> static inline W atomicCAS(W *word, W expected, W desired) {
  const W old = *word;
  if (old == expected) { *word = desired; }
  return old;
}

static inline int __popc(emulated_u32 x) { return __builtin_popcount(x); }
static inline int __popcll(emulated_u64 x) { return __builtin_popcountll(x); }
static inline int __ffs(int x) { return __builtin_ffs(x); }
static inline int __clz(int x) { return x == 0 ? 32 : __builtin_clz((emulated_u32)x); }
static inline int __clzll(long long x) { return x == 0 ? 64 : __builtin_clzll((emulated_u64)x); }
static inline emulated_u32 __brev(emulated_u32 x) { return __builtin_bitreverse32(x); }
static inline emulated_u64 __brevll(emulated_u64 x) { return __builtin_bitreverse64(x); }
// As the device's instructions: NaN gives 0, and what is out of range the nearest integer.
static inline emulated_u32 __float2uint_rz(float x) {
  return !(x > 0.0f) ? 0u : x >= 4294967296.0f ? 0xffffffffu : (emulated_u32)x;
}
static inline int __float2int_rz(float x) {
  return x != x ? 0 : x >= 2147483648.0f ? 2147483647 : x <= -2147483648.0f ? -2147483647 - 1 : (int)x;
}
static inline emulated_u32 __float_as_uint(float x) { return __builtin_bit_cast(emulated_u32, x); }
static inline float __uint_as_float(emulated_u32 x) { return __builtin_bit_cast(float, x); }
static inline long long __double_as_longlong(double x) { return __builtin_bit_cast(long long, x); }
static inline double __longlong_as_double(long long x) { return __builtin_bit_cast(double, x); }
static inline float __fadd_rn(float a, float b) { return a + b; }
static inline float __fsub_rn(float a, float b) { return a - b; }
static inline float __fmul_rn(float a, float b) { return a * b; }
static inline float __fdiv_rn(float a, float b) { return a / b; }
static inline double __dadd_rn(double a, double b) { return a + b; }
static inline double __dsub_rn(double a, double b) { return a - b; }
static inline double __dmul_rn(double a, double b) { return a * b; }
static inline double __ddiv_rn(double a, double b) { return a / b; }
template <typename W> static inline W min(W a, W b) { return b < a ? b : a; }
template <typename W> static inline W max(W a, W b) { return a < b ? b : a; }
// As on the device, a shared address is a place in the block's own memory.
static inline size_t __cvta_generic_to_shared(const void *p) { return (const char *)p - __start_block_shared; }

// The PTX that kernels have inline: ptx.rs leads each statement to its function here.

static inline void ptx_move(unsigned int &made, unsigned int word) { made = word; }
template <typename W> static inline void ptx_load(W &value, const W *word) {
  emulation->pause(PAUSE_POLL, 0u, 0u);
  value = *(const volatile W *)word;
}
template <typename W> static inline void ptx_store(W *word, W value) { *(volatile W *)word = value; }
static inline void ptx_load128(emulated_u64 &low, emulated_u64 &high, const void *word) {
  emulation->pause(PAUSE_POLL, 0u, 0u);
  const volatile emulated_u64 *words = (const volatile emulated_u64 *)word;
  low = words[0];
  high = words[1];
}
static inline void ptx_store128(void *word, emulated_u64 low, emulated_u64 high) {
  volatile emulated_u64 *words = (volatile emulated_u64 *)word;
  words[0] = low;
  words[1] = high;
}
static inline void ptx_swap128(void *word, emulated_u64 was_low, emulated_u64 was_high, emulated_u64 low, emulated_u64 high) {
  const volatile emulated_u64 *words = (const volatile emulated_u64 *)word;
  if (words[0] == was_low && words[1] == was_high) { ptx_store128(word, low, high); }
}
static inline void ptx_same_bit(emulated_u32 &same, emulated_u32 digit, emulated_u32 bit) {
  const emulated_u32 mine = digit & bit;
  const emulated_u32 lanes = __ballot_sync(0xffffffffu, mine != 0u);
  same = mine != 0u ? lanes : ~lanes;
}

// A barrier of arrivals and copied bytes: how many of a phase are still awaited, of how many, and the phase's parity.
struct EmulatedBarrier {
  short pending, arrivals;
  int parity;
};
static_assert(sizeof(EmulatedBarrier) == 8, "as large as the hardware's");
static inline char *ptx_shared(emulated_u32 address) { return __start_block_shared + address; }
static inline EmulatedBarrier *ptx_barrier(emulated_u32 address) { return (EmulatedBarrier *)ptx_shared(address); }
static inline void ptx_barrier_init(emulated_u32 address, emulated_u32 arrivals) {
  *ptx_barrier(address) = {(short)arrivals, (short)arrivals, 0};
}
static inline void ptx_barrier_arrive(emulated_u32 address) {
  EmulatedBarrier *barrier = ptx_barrier(address);
  if (--barrier->pending == 0) { *barrier = {barrier->arrivals, barrier->arrivals, barrier->parity ^ 1}; }
}
// The bytes come at once with the copy that follows, which is the arrival.
static inline void ptx_barrier_expect(emulated_u32, emulated_u32) {}
static inline void ptx_barrier_wait(emulated_u32 address, emulated_u32 parity) {
  while (((volatile EmulatedBarrier *)ptx_barrier(address))->parity == (int)parity) { emulation->pause(PAUSE_POLL, 0u, 0u); }
}
static inline void ptx_bulk_load(emulated_u32 to, const void *from, emulated_u32 bytes, emulated_u32 barrier) {
  memcpy(ptx_shared(to), from, bytes);
  ptx_barrier_arrive(barrier);
}
static inline void ptx_bulk_store(void *to, emulated_u32 from, emulated_u32 bytes) { memcpy(to, ptx_shared(from), bytes); }
static inline void ptx_named_barrier(emulated_u32 id, emulated_u32 threads) { emulation->pause(PAUSE_BARRIER, id, threads); }
template <typename... Operands> static inline void ptx_nothing(Operands...) {}

