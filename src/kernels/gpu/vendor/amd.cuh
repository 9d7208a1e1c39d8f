// AMD's side of portable.cuh, for CDNA: 64 lanes, matrix fused multiply-adds, no copies beside the thread, no dependent
// launch. It compiles with no header of the vendor (cmake/gpu_modules.cmake); nothing of it has run on a device yet.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

// ---- what CUDA's compiler gives every file by itself; so the compiler is told to include this file first

#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __host__ __attribute__((host))
#define __shared__ __attribute__((shared))
#define __align__(n) __attribute__((aligned(n)))
#define __grid_constant__
#define __noinline__  // a call would cost scratch memory for what the caller holds
#define INFINITY __builtin_inff()

// Without a bound the compiler keeps to the registers that 1024 threads leave each; launch_bounds it ignores.
#define RUNG_FIRST(threads, ...) threads
#define RUNG_BOUND(...) __attribute__((amdgpu_flat_work_group_size(1, (RUNG_FIRST(__VA_ARGS__)))))
#define RUNG_KERNEL(...) extern "C" __global__ void __VA_OPT__(RUNG_BOUND(__VA_ARGS__))

struct Index3 {
  uint32_t x, y, z;
};
#define threadIdx \
  (Index3{__builtin_amdgcn_workitem_id_x(), __builtin_amdgcn_workitem_id_y(), __builtin_amdgcn_workitem_id_z()})
#define blockIdx \
  (Index3{__builtin_amdgcn_workgroup_id_x(), __builtin_amdgcn_workgroup_id_y(), __builtin_amdgcn_workgroup_id_z()})
#define blockDim                                                              \
  (Index3{__builtin_amdgcn_workgroup_size_x(), __builtin_amdgcn_workgroup_size_y(), \
          __builtin_amdgcn_workgroup_size_z()})
// The first hidden argument, of code objects from version 5 on.
#define gridDim (*(const Index3 __attribute__((address_space(4)))*)__builtin_amdgcn_implicitarg_ptr())

struct alignas(8) float2 {
  float x, y;
};
struct alignas(16) float4 {
  float x, y, z, w;
};
struct alignas(8) uint2 {
  uint32_t x, y;
};
struct alignas(16) uint4 {
  uint32_t x, y, z, w;
};
__device__ inline uint2 make_uint2(uint32_t x, uint32_t y) { return {x, y}; }
__device__ inline uint4 make_uint4(uint32_t x, uint32_t y, uint32_t z, uint32_t w) { return {x, y, z, w}; }
__device__ inline float4 make_float4(float x, float y, float z, float w) { return {x, y, z, w}; }
template <class T>
__device__ constexpr T min(T a, T b) {
  return b < a ? b : a;
}
template <class T>
__device__ constexpr T max(T a, T b) {
  return a < b ? b : a;
}

// ---- functions on floats: exp, log and sqrt are the compiler's; sin, cos and pow it would take from the hardware,
// with no reduction of the range, so they are written here, as are those that it has not at all. Errors in units in the
// last place, measured by emulation: tanh 3.1, erf 0.9, erfc 2.2, sin and cos 1.4, pow 0.5.

__device__ inline float expf(float x) { return __builtin_expf(x); }
__device__ inline float logf(float x) { return __builtin_logf(x); }
__device__ inline float sqrtf(float x) { return __builtin_sqrtf(x); }
__device__ inline float rsqrtf(float x) { return __builtin_amdgcn_rsqf(x); }
__device__ inline float fabsf(float x) { return __builtin_fabsf(x); }
__device__ inline float fmaxf(float x, float y) { return __builtin_fmaxf(x, y); }
__device__ inline float fmaf(float x, float y, float z) { return __builtin_fmaf(x, y, z); }
__device__ inline float nanf(const char*) { return __builtin_nanf(""); }

// The polynomial with these coefficients, the highest power's first.
template <int n>
__device__ inline float polynomial(const float (&c)[n], float x) {
  float y = c[0];
#pragma unroll
  for (int i = 1; i < n; ++i) y = fmaf(y, x, c[i]);
  return y;
}
__device__ inline float tanhf(float x) {
  const float a = fabsf(x), s = x * x;
  if (a < 0.55f) {
    constexpr float c[] = {1.57296315e-2f, -5.23030907e-2f, 1.33152485e-1f, -3.33327681e-1f};
    return fmaf(polynomial(c, s) * s, x, x);
  }
  return __builtin_copysignf(a != a ? a : 1.0f - 2.0f / (expf(2.0f * a) + 1.0f), x);
}
__device__ inline float erff(float x) {
  const float t = fabsf(x), s = x * x;
  if (t > 0.927734375f) {
    float r = fmaf(fmaf(-1.72853470e-5f, t, 3.83197126e-4f), s, fmaf(-3.88396438e-3f, t, 2.42546219e-2f));
    r = fmaf(fmaf(fmaf(r, t, -1.06777877e-1f), t, -6.34846687e-1f), t, -1.28717512e-1f);
    return __builtin_copysignf(1.0f - expf(fmaf(r, t, -t)), x);
  }
  constexpr float c[] = {-5.96761703e-4f, 4.99119423e-3f, -2.67681349e-2f,
                         1.12819925e-1f,  -3.76125336e-1f, 1.28379166e-1f};
  return fmaf(polynomial(c, s), x, x);
}
__device__ inline float erfcf(float x) {
  const float a = fabsf(x), inverse = 1.0f / (a + 4.0f);
  float q = (a - 4.0f) * inverse;
  q = fmaf(inverse, fmaf(q, -a, fmaf(q + 1.0f, -4.0f, a)), q);
  constexpr float c[] = {0x1.82561ep-11f, 0x1.b41656p-8f,  -0x1.081280p-6f, 0x1.2b31a2p-5f,
                         -0x1.107348p-4f, 0x1.804830p-4f,  -0x1.9dbc30p-4f, 0x1.16e7f8p-4f,
                         0x1.f7eaecp-7f,  -0x1.1df1a2p-3f, 0x1.dd2c8cp-3f};
  const float p = polynomial(c, q), r = 1.0f / fmaf(2.0f, a, 1.0f), s = a * a, e = expf(-s);
  q = fmaf(p, r, r);
  q = fmaf(fmaf(fmaf(q, -a, 0.5f), 2.0f, p - q), r, q);
  q = a > 10.0546875f ? 0.0f : fmaf(q, e, q * e * fmaf(-a, a, s));
  return x != x ? x : x < 0 ? 2.0f - q : q;
}
// The sine of x + quarter * pi/2; the angle is reduced in f64, which these machines compute as fast.
__device__ inline float sine_of(float x, int quarter) {
  const double n = __builtin_rint(double{x} * 0.63661977236758138);
  const double angle = __builtin_fma(-n, 6.123233995736766e-17, __builtin_fma(-n, 1.5707963267948966, double{x}));
  const float r = static_cast<float>(angle), s = r * r;
  const int k = static_cast<int>(static_cast<long long>(n)) + quarter;
  constexpr float cosine[] = {2.44331571e-5f, -1.38873162e-3f, 4.16666456e-2f, -0.5f, 1.0f};
  constexpr float sine[] = {-1.95152959e-4f, 8.33216087e-3f, -1.66666546e-1f};
  const float y = k & 1 ? polynomial(cosine, s) : fmaf(polynomial(sine, s) * s, r, r);
  return k & 2 ? -y : y;
}
__device__ inline float sinf(float x) { return sine_of(x, 0); }
__device__ inline float cosf(float x) { return sine_of(x, 1); }
// 2^(y log2 x) in f64, of a finite x > 0 and a finite y.
__device__ inline float power_of_positive(float x, float y) {
  int exponent = __builtin_amdgcn_frexp_exp(double{x});
  double m = __builtin_amdgcn_frexp_mant(double{x});  // [0.5, 1)
  if (m < 0.70710678118654752) m *= 2, --exponent;
  const double s = (m - 1) / (m + 1), t = s * s;
  double log = 2.0 / 15, e = 1;
  for (int i = 13; i > 0; i -= 2) log = __builtin_fma(log, t, 2.0 / i);
  const double all = double{y} * __builtin_fma(log * s, 1.4426950408889634, static_cast<double>(exponent));
  const double z = all < -200 ? -200 : all > 200 ? 200 : all, n = __builtin_rint(z), f = (z - n) * 0.69314718055994531;
  for (int i = 10; i > 0; --i) e = __builtin_fma(e * f, 1.0 / i, 1.0);
  return static_cast<float>(__builtin_amdgcn_ldexp(e, static_cast<int>(n)));
}
__device__ inline float powf(float x, float y) {
  if (y == 0 || x == 1) return 1;
  if (x != x || y != y) return x + y;
  const float a = fabsf(x);
  const bool whole = __builtin_truncf(y) == y, odd = whole && fabsf(y) < 16777216.0f && (static_cast<int>(y) & 1);
  if (a != 0 && a != INFINITY && fabsf(y) == INFINITY) return a == 1 ? 1.0f : (a > 1) == (y > 0) ? INFINITY : 0.0f;
  if (x < 0 && a != INFINITY && !whole) return __builtin_nanf("");
  const float r = a != 0 && a != INFINITY ? power_of_positive(a, y) : (a == 0) == (y < 0) ? INFINITY : 0.0f;
  return odd ? __builtin_copysignf(r, x) : r;
}

namespace rung::gpu {

// ---- lanes

inline constexpr int kLanes = 64;
__device__ inline int lane() { return static_cast<int>(threadIdx.x) % kLanes; }
__device__ inline int warp() { return __builtin_amdgcn_readfirstlane(static_cast<int>(threadIdx.x) / kLanes); }

template <class T>
__device__ inline T shuffle(T x, int from) {
  static_assert(sizeof(T) % 4 == 0);
  int word[sizeof(T) / 4];
  __builtin_memcpy(word, &x, sizeof x);
#pragma unroll
  for (int& w : word) w = __builtin_amdgcn_ds_bpermute(from * 4, w);
  __builtin_memcpy(&x, word, sizeof x);
  return x;
}
template <class T>
__device__ inline T shuffle_xor(T x, int mask) {
  return shuffle(x, lane() ^ mask);
}
__device__ inline bool any_lane(bool x) { return __builtin_amdgcn_uicmp(static_cast<int>(x), 0, 33) != 0; }
__device__ inline void sync_warp() {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "wavefront");
  __builtin_amdgcn_wave_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "wavefront");
}
__device__ inline void sync_block() {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}

// ---- elements

// Of an address that it knows nothing about the compiler makes flat accesses, which ask each time whether it lies in
// global memory, LDS or scratch, and take part in the waits for LDS.
template <class T>
__device__ inline T* in_memory(uint64_t address) {
  return (T*)(__attribute__((address_space(1))) T*)address;
}

using f16 = _Float16;
// Its bits: not every compiler of this target converts the type that it has.
struct bf16 {
  uint16_t bits;
};
__device__ inline float as_float(uint32_t bits) { return __builtin_bit_cast(float, bits); }
__device__ inline uint32_t as_bits(float x) { return __builtin_bit_cast(uint32_t, x); }
__device__ inline float to_float(float x) { return x; }
__device__ inline float to_float(bf16 x) { return as_float(uint32_t{x.bits} << 16); }
__device__ inline float to_float(f16 x) { return static_cast<float>(x); }
__device__ inline float f16_bits_to_float(uint32_t bits) {
  return to_float(__builtin_bit_cast(f16, static_cast<uint16_t>(bits)));
}
template <class T>
__device__ inline T from_float(float x) {
  if constexpr (__is_same(T, bf16)) {
    const uint32_t bits = __builtin_bit_cast(uint32_t, x), even = bits >> 16 & 1;
    return {static_cast<uint16_t>(x != x ? 0x7fc0 : (bits + 0x7fff + even) >> 16)};
  } else {
    return static_cast<T>(x);
  }
}
template <class T>
__device__ inline uint32_t pack(float low, float high) {
  const T both[] = {from_float<T>(low), from_float<T>(high)};
  uint32_t word;
  __builtin_memcpy(&word, both, sizeof word);
  return word;
}
template <class T>
__device__ inline float2 unpack(uint32_t both) {
  T pair[2];
  __builtin_memcpy(pair, &both, sizeof both);
  return {to_float(pair[0]), to_float(pair[1])};
}

// No register is chosen by an index that is known at run time only: the array would lie in scratch memory.
template <class T, int n>
__device__ inline void store_first(T* to, const T (&from)[n], int count) {
#pragma unroll
  for (int i = 0; i < n; ++i)
    if (i < count) to[i] = from[i];
}

// ---- fast math

__device__ inline float fast_exp2(float x) { return __builtin_exp2f(x); }
__device__ inline float fast_exp(float x) { return fast_exp2(x * 1.4426950408889634f); }
__device__ inline float fast_inverse(float x) { return __builtin_amdgcn_rcpf(x); }
__device__ inline float fast_divide(float x, float y) { return x * fast_inverse(y); }

// ---- time and order: kernels do not overlap

__device__ inline void pause_ns(uint32_t) { __builtin_amdgcn_s_sleep(1); }  // 64 clocks
__device__ inline void wait_for_producers() {}
__device__ inline void allow_dependents() {}
__device__ inline void prefetch_to_l2(const void*) {}

// ---- copies to shared memory: by the thread itself. To be fast they must be asked for into registers and land later.

__device__ inline void copy_async_16(void* to, const void* from, bool valid = true) {
  *static_cast<uint4*>(to) = valid ? *static_cast<const uint4*>(from) : uint4{};
}
__device__ inline void commit_copies() {}
template <int pending>
__device__ inline void wait_copies() {}

// ---- matrix fragments. Products are made transposed (our columns are the instruction's rows), so that a lane has of
// a, b and c one line, lane % 16, and of it the four elements from 4 (lane / 16) on: c is the operand a of the next
// product as it is.

using Half4 = __attribute__((ext_vector_type(4))) _Float16;
using Short4 = __attribute__((ext_vector_type(4))) short;
using Float4 = __attribute__((ext_vector_type(4))) float;

struct FragmentA {
  uint2 x;
};
struct FragmentB {
  uint2 x;
};
struct FragmentC {
  float x[4] = {};
};
inline constexpr int kFragmentColumns = 16, kLaneRows = 1, kLaneColumns = 4, kRowStep = 16;
__device__ inline int fragment_row(int lane) { return lane % 16; }
__device__ inline int fragment_column(int lane) { return lane / 16 * 4; }
__device__ inline bool leads_row(int lane) { return lane < 16; }
__device__ inline float row_sum(float x) {
  x += shuffle_xor(x, 16);
  return x + shuffle_xor(x, 32);
}
__device__ inline float row_max(float x) {
  x = fmaxf(x, shuffle_xor(x, 16));
  return fmaxf(x, shuffle_xor(x, 32));
}
__device__ inline float lane_max(const FragmentC& c, int) {
  return fmaxf(fmaxf(c.x[0], c.x[1]), fmaxf(c.x[2], c.x[3]));
}

template <class T>
__device__ inline FragmentA load_a(const T* a, int pitch) {
  return {*reinterpret_cast<const uint2*>(a + lane() % 16 * pitch + lane() / 16 * 4)};
}
template <class T>
__device__ inline void load_b_by_columns(FragmentB (&b)[1], const T* n, int pitch) {
  b[0] = {*reinterpret_cast<const uint2*>(n + lane() % 16 * pitch + lane() / 16 * 4)};
}
template <class T>
__device__ inline void load_b_by_rows(FragmentB (&b)[1], const T* k, int pitch) {
  uint16_t x[4];
#pragma unroll
  for (int i = 0; i < 4; ++i)
    x[i] = *reinterpret_cast<const uint16_t*>(k + (lane() / 16 * 4 + i) * pitch + lane() % 16);
  __builtin_memcpy(&b[0].x, x, sizeof x);
}

template <class T>
__device__ inline void multiply_add_16(FragmentC* c, const FragmentA& a, const FragmentB (&b)[1]) {
  Float4 sum = __builtin_bit_cast(Float4, c->x);
  if constexpr (__is_same(T, bf16))
    sum = __builtin_amdgcn_mfma_f32_16x16x16bf16_1k(__builtin_bit_cast(Short4, b->x), __builtin_bit_cast(Short4, a.x),
                                                    sum, 0, 0, 0);
  else
    sum = __builtin_amdgcn_mfma_f32_16x16x16f16(__builtin_bit_cast(Half4, b->x), __builtin_bit_cast(Half4, a.x), sum,
                                                0, 0, 0);
  __builtin_memcpy(c->x, &sum, sizeof sum);
}

template <class T>
__device__ inline FragmentA a_from_c(const FragmentC* c) {
  return {{pack<T>(c->x[0], c->x[1]), pack<T>(c->x[2], c->x[3])}};
}
template <class T>
__device__ inline void store_row(T* row_begin, const FragmentC& c, int, float factor) {
  *reinterpret_cast<uint2*>(row_begin + fragment_column(lane())) = {pack<T>(c.x[0] * factor, c.x[1] * factor),
                                                              pack<T>(c.x[2] * factor, c.x[3] * factor)};
}
__device__ inline void store_row(float* row_begin, const FragmentC& c, int) {
  *reinterpret_cast<float4*>(row_begin + fragment_column(lane())) = {c.x[0], c.x[1], c.x[2], c.x[3]};
}

}  // namespace rung::gpu
