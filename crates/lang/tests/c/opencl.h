// What emitted OpenCL C uses of the language and of the prelude, in C11.
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <tgmath.h>

typedef uint32_t u32;
typedef int32_t i32;
typedef float f32;
typedef uint64_t u64;
typedef int64_t i64;
typedef double f64;

static u32 as_uint(f32 x) { u32 r; memcpy(&r, &x, 4); return r; }
static f32 as_float(u32 x) { f32 r; memcpy(&r, &x, 4); return r; }
static u64 as_ulong(f64 x) { u64 r; memcpy(&r, &x, 8); return r; }
static f64 as_double(u64 x) { f64 r; memcpy(&r, &x, 8); return r; }

static u32 convert_uint_sat_rtz(float x) { return !(x > 0.0f) ? 0u : x >= 4294967296.0f ? 0xffffffffu : (u32)x; }
static int convert_int_sat_rtz(float x) {
    return x != x ? 0 : x >= 2147483648.0f ? 2147483647 : x <= -2147483648.0f ? -2147483647 - 1 : (int)x;
}
static int clz32(u32 x) { return x == 0 ? 32 : __builtin_clz(x); }
static int clz64(u64 x) { return x == 0 ? 64 : __builtin_clzll(x); }
#define clz(x) _Generic((x), u32: clz32, u64: clz64)(x)
#define popcount(x) _Generic((x), u32: __builtin_popcount, u64: __builtin_popcountll)(x)
#define rsqrt(x) ((__typeof__(x))1 / sqrt(x))
