// What emitted CUDA C uses of the language and of the prelude, in C++17.
#include <cmath>
#include <cstdio>
#include <cstring>

typedef unsigned int u32;
typedef int i32;
typedef float f32;
typedef unsigned long long u64;
typedef long long i64;
typedef double f64;

#define __device__
#define __forceinline__ inline

static u32 __float_as_uint(f32 x) { u32 r; memcpy(&r, &x, 4); return r; }
static f32 __uint_as_float(u32 x) { f32 r; memcpy(&r, &x, 4); return r; }
static long long __double_as_longlong(f64 x) { long long r; memcpy(&r, &x, 8); return r; }
static f64 __longlong_as_double(long long x) { f64 r; memcpy(&r, &x, 8); return r; }

static f32 __fadd_rn(f32 a, f32 b) { return a + b; }
static f32 __fsub_rn(f32 a, f32 b) { return a - b; }
static f32 __fmul_rn(f32 a, f32 b) { return a * b; }
static f64 __dadd_rn(f64 a, f64 b) { return a + b; }
static f64 __dsub_rn(f64 a, f64 b) { return a - b; }
static f64 __dmul_rn(f64 a, f64 b) { return a * b; }
static f32 rsqrtf(f32 x) { return 1.0f / sqrtf(x); }

static int __clz(int x) { return x == 0 ? 32 : __builtin_clz((u32)x); }
static int __clzll(long long x) { return x == 0 ? 64 : __builtin_clzll((u64)x); }
static u32 __float2uint_rz(float x) { return !(x > 0.0f) ? 0u : x >= 4294967296.0f ? 0xffffffffu : (u32)x; }
static int __float2int_rz(float x) {
    return x != x ? 0 : x >= 2147483648.0f ? 2147483647 : x <= -2147483648.0f ? -2147483647 - 1 : (int)x;
}
static int __popc(u32 x) { return __builtin_popcount(x); }
static int __popcll(u64 x) { return __builtin_popcountll(x); }
static u64 __brevll(u64 x) {
    u64 r = 0;
    for (int i = 0; i < 64; i++) { r |= (x >> i & 1) << (63 - i); }
    return r;
}
static u32 __brev(u32 x) { return (u32)(__brevll(x) >> 32); }
