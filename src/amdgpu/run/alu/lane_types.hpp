// Makes lane functions of one-line expressions: types of a lane's values, and the loop over 64 lanes.
// SPDX-License-Identifier: Apache-2.0
// Each LaneCode compiles this in a namespace of its own (RUNG_LANES), so that code of one never runs as another's.
#pragma once
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>

#include "amdgpu/run/alu/lane_row.hpp"
#include "amdgpu/run/lanes.hpp"
#include "amdgpu/run/mode.hpp"

namespace rung::amdgpu::RUNG_LANES {

using u8 = uint8_t;
using i8 = int8_t;
using u16 = uint16_t;
using i16 = int16_t;
using u32 = uint32_t;
using i32 = int32_t;
using u64 = uint64_t;
using i64 = int64_t;
using f32 = float;
using f64 = double;

#define RUNG_INLINE [[gnu::always_inline]] static inline

RUNG_INLINE u32 bits(float x) { return std::bit_cast<u32>(x); }
RUNG_INLINE u64 bits(double x) { return std::bit_cast<u64>(x); }
RUNG_INLINE float f32_of(u32 x) { return std::bit_cast<float>(x); }
RUNG_INLINE double f64_of(u64 x) { return std::bit_cast<double>(x); }

// Clang has the functions from 17 on.
#if __has_builtin(__builtin_roundevenf)
RUNG_INLINE float round_even(float x) { return __builtin_roundevenf(x); }
RUNG_INLINE double round_even(double x) { return __builtin_roundeven(x); }
#else
RUNG_INLINE float round_even(float x) { return ::roundevenf(x); }
RUNG_INLINE double round_even(double x) { return ::roundeven(x); }
#endif

// Values of one-line expressions: they convert by themselves. NOLINTBEGIN(google-explicit-constructor)
// An f16 is held exactly as f32. As a result it is rounded to f16 by the mode of f16 and f64.
struct f16 {
  float value;
  f16() = default;
  [[gnu::always_inline]] inline f16(float x) : value(x) {}
  [[gnu::always_inline]] inline operator float() const { return value; }
};
struct mix {
  float value;
  [[gnu::always_inline]] inline operator float() const { return value; }
};
struct mask {
  u32 all;  // bits
  mask() = default;
  [[gnu::always_inline]] inline mask(bool is) : all(is ? ~u32{0} : 0) {}
  [[gnu::always_inline]] inline operator bool() const { return all != 0; }
};
// NOLINTEND(google-explicit-constructor)
struct bf16 {
  u16 bits;
};
template <class T>
struct pair {  // the low and the high half of packed instructions
  T lo, hi;
};
template <class T>
struct carried {  // a result with a carry out
  T value;
  bool carry;
};
template <int N>
struct wide {  // N registers
  u32 at[N];
};
// Values that a function may take besides its sources.
struct lane_number {
  u32 value;
};
struct mode_bits {
  u32 value;
  bool ieee() const { return value & Mode::kIeee; }
};
struct immediate_of {
  i32 value;
};
struct op_sel_bits {
  u32 value;
};
struct before {  // the destination's earlier value, as the last source
  u32 value;
};
struct isa_of {
  Isa value;
};

RUNG_INLINE float half_to_float(u32 half) {
  const u32 magnitude = (half & 0x7fff) << 13;
  const u32 scaled = bits(f32_of(magnitude) * 0x1p112f);  // denormals of f16 included
  const u32 special = (half & 0x7c00) == 0x7c00 ? 0x7f800000u | magnitude : scaled;
  return f32_of(special | (half & 0x8000) << 16);
}

// Rounds to nearest even. A NaN becomes quiet and keeps the upper bits of its payload.
RUNG_INLINE u32 float_to_half(float x) {
  const u32 sign = bits(x) >> 16 & 0x8000, a = bits(x) & 0x7fffffff;
  const u32 normal = (a - 0x38000000 + 0xfff + (a >> 13 & 1)) >> 13;
  const u32 small = bits(f32_of(a) + 0.5f) - 0x3f000000;
  u32 half = a < 0x38800000 ? small : normal;
  half = a >= 0x47800000 ? 0x7c00 : half;
  half = a > 0x7f800000 ? 0x7e00 | (a >> 13 & 0x3ff) : half;
  return sign | half;
}

// Rounds by one of the other three modes: 1: up, 2: down, 3: toward zero.
RUNG_INLINE u32 float_to_half_directed(float x, u32 rounding) {
  const u32 sign = bits(x) >> 16 & 0x8000, a = bits(x) & 0x7fffffff;
  if (a > 0x7f800000) return sign | 0x7e00 | (a >> 13 & 0x3ff);
  if (a == 0x7f800000) return sign | 0x7c00;
  const bool away = (rounding == 1 && !sign) || (rounding == 2 && sign);
  if (a >= 0x47800000) return sign | (away ? 0x7c00 : 0x7bff);
  const u32 exponent = a >> 23;
  u32 cut = 13, mantissa = a - 0x38000000;
  if (exponent < 113) {  // denormal in f16
    cut = 126 - exponent < 31 ? 126 - exponent : 31;
    mantissa = exponent == 0 ? a : (a & 0x7fffff) | 0x800000;
  }
  const u32 rest = mantissa & ((u32{1} << cut) - 1);
  return sign | ((mantissa >> cut) + (away && rest ? 1 : 0));
}
RUNG_INLINE u32 round_to_half(float x, u32 rounding) {
  return rounding == 0 ? float_to_half(x) : float_to_half_directed(x, rounding);
}

// ---- one lane of a source, by its type

template <class T>
struct source_of;
#define RUNG_SOURCE(T, kind_, registers_, ...)                                        \
  template <>                                                                         \
  struct source_of<T> {                                                               \
    static constexpr Kind kind = Kind::kind_;                                         \
    static constexpr u8 registers = registers_;                                       \
    [[gnu::always_inline]] static T load(const u32* p, int l) { return __VA_ARGS__; } \
  };
RUNG_SOURCE(u16, b16, 1, static_cast<u16>(p[l]))
RUNG_SOURCE(i16, b16, 1, static_cast<i16>(p[l]))
RUNG_SOURCE(f16, f16, 1, half_to_float(p[l] & 0xffff))
RUNG_SOURCE(u32, b32, 1, p[l])
RUNG_SOURCE(i32, b32, 1, static_cast<i32>(p[l]))
RUNG_SOURCE(before, b32, 1, before{p[l]})
RUNG_SOURCE(f32, f32, 1, f32_of(p[l]))
RUNG_SOURCE(mix, mix, 1, mix{f32_of(p[l])})
RUNG_SOURCE(mask, mask, 1, mask{p[l] != 0})
RUNG_SOURCE(u64, b64, 2, p[l] | static_cast<u64>(p[l + 64]) << 32)
RUNG_SOURCE(i64, b64, 2, static_cast<i64>(p[l] | static_cast<u64>(p[l + 64]) << 32))
RUNG_SOURCE(f64, f64, 2, f64_of(p[l] | static_cast<u64>(p[l + 64]) << 32))
RUNG_SOURCE(pair<u16>, packed_b16, 1, {static_cast<u16>(p[l]), static_cast<u16>(p[l] >> 16)})
RUNG_SOURCE(pair<i16>, packed_b16, 1, {static_cast<i16>(p[l]), static_cast<i16>(p[l] >> 16)})
RUNG_SOURCE(pair<f16>, packed_f16, 1, {half_to_float(p[l] & 0xffff), half_to_float(p[l] >> 16)})
RUNG_SOURCE(pair<bf16>, packed_b16, 1, {{static_cast<u16>(p[l])}, {static_cast<u16>(p[l] >> 16)}})
RUNG_SOURCE(pair<f32>, packed_f32, 2, {f32_of(p[l]), f32_of(p[l + 64])})
#undef RUNG_SOURCE
template <int N>
struct source_of<wide<N>> {
  static constexpr Kind kind = Kind::b32;
  static constexpr u8 registers = N;
  static wide<N> load(const u32* p, int l) {
    wide<N> all;
    for (int r = 0; r < N; ++r) all.at[r] = p[l + 64 * r];
    return all;
  }
};

// ---- one lane of a result; `rounding` applies to f16

template <class T>
struct result_of;
#define RUNG_RESULT(T, kind_, registers_, ...)                                     \
  template <>                                                                      \
  struct result_of<T> {                                                            \
    static constexpr Kind kind = Kind::kind_;                                      \
    static constexpr u8 registers = registers_;                                    \
    template <bool kNearest>                                                       \
    [[gnu::always_inline]] static void store(const Frame& f, u32* p, int l, T x) { \
      (void)f;                                                                     \
      __VA_ARGS__;                                                                 \
    }                                                                              \
  };
RUNG_RESULT(u16, b16, 1, p[l] = x)
RUNG_RESULT(i16, b16, 1, p[l] = static_cast<u16>(x))
RUNG_RESULT(u32, b32, 1, p[l] = x)
RUNG_RESULT(i32, b32, 1, p[l] = static_cast<u32>(x))
RUNG_RESULT(f32, f32, 1, p[l] = bits(x))
RUNG_RESULT(mask, mask, 0, p[l] = x.all)
RUNG_RESULT(u64, b64, 2, p[l] = static_cast<u32>(x); p[l + 64] = static_cast<u32>(x >> 32))
RUNG_RESULT(i64, b64, 2, p[l] = static_cast<u32>(x); p[l + 64] = static_cast<u32>(static_cast<u64>(x) >> 32))
RUNG_RESULT(f64, f64, 2, p[l] = static_cast<u32>(bits(x)); p[l + 64] = static_cast<u32>(bits(x) >> 32))
RUNG_RESULT(f16, f16, 1, p[l] = kNearest ? float_to_half(x) : round_to_half(x, (f.mode & Mode::kRound16And64) >> 2))
RUNG_RESULT(pair<f16>, packed_f16, 1, result_of<f16>::store<kNearest>(f, p, l, x.lo); const u32 low = p[l];
            result_of<f16>::store<kNearest>(f, p, l, x.hi); p[l] = low | p[l] << 16)
RUNG_RESULT(pair<u16>, packed_b16, 1, p[l] = x.lo | static_cast<u32>(x.hi) << 16)
RUNG_RESULT(pair<i16>, packed_b16, 1, p[l] = static_cast<u16>(x.lo) | static_cast<u32>(x.hi) << 16)
RUNG_RESULT(pair<f32>, packed_f32, 2, p[l] = bits(x.lo); p[l + 64] = bits(x.hi))
#undef RUNG_RESULT
template <class T>
struct result_of<carried<T>> {
  static constexpr Kind kind = result_of<T>::kind;
  static constexpr u8 registers = result_of<T>::registers;
  template <bool kNearest>
  [[gnu::always_inline]] static void store(const Frame& f, u32* p, int l, carried<T> x) {
    result_of<T>::template store<kNearest>(f, p, l, x.value);
    f.mask[l] = x.carry ? ~u32{0} : 0;
  }
};
template <int N>
struct result_of<wide<N>> {
  static constexpr Kind kind = Kind::b32;
  static constexpr u8 registers = N;
  template <bool kNearest>
  static void store(const Frame&, u32* p, int l, const wide<N>& x) {
    for (int r = 0; r < N; ++r) p[l + 64 * r] = x.at[r];
  }
};
template <class T>
inline constexpr bool is_carried = false;
template <class T>
inline constexpr bool is_carried<carried<T>> = true;
template <class T>
inline constexpr bool rounds_to_half = std::is_same_v<T, f16> || std::is_same_v<T, pair<f16>>;

// ---- the loop

template <class T>
inline constexpr bool is_asked =
    std::is_same_v<T, lane_number> || std::is_same_v<T, mode_bits> || std::is_same_v<T, immediate_of> ||
    std::is_same_v<T, op_sel_bits> || std::is_same_v<T, isa_of>;

template <class T>
[[gnu::always_inline]] inline T argument(const Frame& f, const u32* p, int l) {
  if constexpr (std::is_same_v<T, lane_number>)
    return {static_cast<u32>(l)};
  else if constexpr (std::is_same_v<T, mode_bits>)
    return {f.mode};
  else if constexpr (std::is_same_v<T, immediate_of>)
    return {f.immediate};
  else if constexpr (std::is_same_v<T, op_sel_bits>)
    return {f.op_sel};
  else if constexpr (std::is_same_v<T, isa_of>)
    return {f.isa};
  else
    return source_of<T>::load(p, l);
}

template <class F, class Signature = decltype(&F::operator())>
struct maker;
template <class F, class R, class... A>
struct maker<F, R (F::*)(A...) const> {
  static constexpr int kParameters = sizeof...(A);
  // Returns the number of the source that is the n-th parameter.
  static constexpr int source_at(int n) {
    constexpr bool asked[] = {is_asked<A>..., false};
    int source = 0;
    for (int k = 0; k < n; ++k) source += !asked[k];
    return source;
  }
  template <bool kNearest, size_t... n>
  static void loop(const Frame& frame, std::index_sequence<n...>) {
    const Frame f = frame;  // so that no store may change it
    const u32* const sources[] = {f.source[source_at(n) < 4 ? source_at(n) : 0]..., nullptr};
    u32* const result = f.result;
#pragma GCC ivdep
    for (int l = 0; l < kWaveLanes; ++l)
      result_of<R>::template store<kNearest>(f, result, l, F{}(argument<A>(f, sources[n], l)...));
  }
  static void run(const Frame& f) {
    constexpr auto kAll = std::make_index_sequence<sizeof...(A)>{};
    if constexpr (rounds_to_half<R>)
      if (f.mode & Mode::kRound16And64) return loop<false>(f, kAll);
    loop<true>(f, kAll);
  }
  static LaneRow row(Opcode opcode) {
    LaneRow made;
    made.opcode = opcode;
    made.run = run;
    made.result = result_of<R>::kind;
    made.result_registers = result_of<R>::registers;
    made.carry_out = is_carried<R>;
    (add_source<A>(made), ...);
    return made;
  }
  template <class T>
  static void add_source(LaneRow& made) {
    made.accumulates |= std::is_same_v<T, before>;
    made.own_halves |= std::is_same_v<T, op_sel_bits>;
    if constexpr (!is_asked<T>) {
      made.sources[made.source_count] = source_of<T>::kind;
      made.source_registers[made.source_count++] = source_of<T>::registers;
    }
  }
};

template <class F>
LaneRow row(Opcode opcode, F) {
  return maker<F>::row(opcode);
}
template <class F, class S>
LaneRow row(Opcode opcode, F, S) {
  LaneRow made = maker<F>::row(opcode);
  made.saturated = maker<S>::run;
  return made;
}
// Applies the same function to both halves.
template <class T, class F>
auto both(F) {
  if constexpr (std::is_invocable_v<F, mode_bits, T, T>)
    return [](mode_bits m, pair<T> a, pair<T> b) -> pair<T> { return {F{}(m, a.lo, b.lo), F{}(m, a.hi, b.hi)}; };
  else if constexpr (std::is_invocable_v<F, T, T, T>)
    return [](pair<T> a, pair<T> b, pair<T> c) -> pair<T> { return {F{}(a.lo, b.lo, c.lo), F{}(a.hi, b.hi, c.hi)}; };
  else
    return [](pair<T> a, pair<T> b) -> pair<T> { return {F{}(a.lo, b.lo), F{}(a.hi, b.hi)}; };
}

// RUNG_LANE(opcode, type of the result, (parameters), expression) makes a row of a table.
#define RUNG_LANE(name, R, parameters, ...) row(Opcode::name, [] parameters -> R { return R(__VA_ARGS__); }),
// RUNG_LANE_CLAMP has a second expression for clamp.
#define RUNG_LANE_CLAMP(name, R, parameters, expression, ...) \
  row(                                                        \
      Opcode::name, [] parameters -> R { return R(expression); }, [] parameters -> R { return R(__VA_ARGS__); }),
#define RUNG_PACKED(name, T, parameters, ...) row(Opcode::name, both<T>([] parameters -> T { return T(__VA_ARGS__); })),
#define RUNG_PACKED_CLAMP(name, T, parameters, expression, ...)            \
  row(Opcode::name, both<T>([] parameters -> T { return T(expression); }), \
      both<T>([] parameters -> T { return T(__VA_ARGS__); })),

}  // namespace rung::amdgpu::RUNG_LANES
