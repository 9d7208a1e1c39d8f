// The interpreter of element-wise programs, for processes that may not execute generated code, and for 64-bit integers:
// each step sweeps one block of up to 512 elements. One simple form, for AVX2.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/pointwise/pointwise.hpp"

#include "kernels/cpu/simd_loop.hpp"
#include "kernels/cpu/simd_math.hpp"

namespace rung::cpu::RUNG_ISA {
namespace {

// Returns 1 where the comparison holds, else 0.
template <int predicate>
RUNG_SIMD Vec holds(Vec a, Vec b) {
  return _mm256_and_ps(_mm256_cmp_ps(a, b, predicate), set1(1.0f));
}
RUNG_SIMD Vec truth(Vec a) { return holds<_CMP_NEQ_UQ>(a, zero()); }
// Returns `a` where it is NaN, else `chosen`.
RUNG_SIMD Vec with_nan(Vec chosen, Vec a) { return _mm256_blendv_ps(chosen, a, _mm256_cmp_ps(a, a, _CMP_UNORD_Q)); }
RUNG_SIMD Vec select_true(Vec condition, Vec yes, Vec no) {
  return _mm256_blendv_ps(no, yes, _mm256_cmp_ps(condition, zero(), _CMP_NEQ_UQ));
}

template <class F>
RUNG_SIMD void map(float* to, int64_t n, const float* x, const F& f) {
  each_vector(n, [&](int64_t i, auto part) RUNG_INLINE { store(to + i, f(load(x + i, part)), part); });
}
template <class F>
RUNG_SIMD void map(float* to, int64_t n, const float* x, const float* y, const F& f) {
  each_vector(n,
              [&](int64_t i, auto part) RUNG_INLINE { store(to + i, f(load(x + i, part), load(y + i, part)), part); });
}

// These macros define the functions that have a vector expression.
#define RUNG_MAP1(kind, expression) \
  case Code::kind:                  \
    return map(to, n, x, [](Vec a) RUNG_INLINE { return expression; });
#define RUNG_MAP2(kind, expression) \
  case Code::kind:                  \
    return map(to, n, x, y, [](Vec a, Vec b) RUNG_INLINE { return expression; });
void apply(Code code, float* to, int64_t n, const float* x, const float* y) {
  switch (code) {
    RUNG_MAP1(neg, negate(a))
    RUNG_MAP1(abs, abs(a))
    RUNG_MAP1(exp, exp(a))
    RUNG_MAP1(sqrt, sqrt(a))
    RUNG_MAP1(rsqrt, set1(1.0f) / sqrt(a))
    RUNG_MAP1(reciprocal, set1(1.0f) / a)
    RUNG_MAP1(square, a * a)
    RUNG_MAP1(tanh, tanh(a))
    RUNG_MAP1(erf, erf(a))
    RUNG_MAP1(sigmoid, sigmoid(a))
    RUNG_MAP1(relu, relu(a))
    RUNG_MAP1(silu, silu(a))
    RUNG_MAP1(gelu, gelu(a))
    RUNG_MAP1(gelu_tanh, gelu_tanh(a))
    RUNG_MAP1(logical_not, holds<_CMP_EQ_OQ>(a, zero()))
    RUNG_MAP2(add, a + b)
    RUNG_MAP2(sub, a - b)
    RUNG_MAP2(mul, a * b)
    RUNG_MAP2(div, a / b)
    RUNG_MAP2(max, with_nan(with_nan(max(a, b), b), a))
    RUNG_MAP2(min, with_nan(with_nan(min(a, b), b), a))
    RUNG_MAP2(eq, holds<_CMP_EQ_OQ>(a, b))
    RUNG_MAP2(ne, holds<_CMP_NEQ_UQ>(a, b))
    RUNG_MAP2(lt, holds<_CMP_LT_OQ>(a, b))
    RUNG_MAP2(le, holds<_CMP_LE_OQ>(a, b))
    RUNG_MAP2(gt, holds<_CMP_GT_OQ>(a, b))
    RUNG_MAP2(ge, holds<_CMP_GE_OQ>(a, b))
    RUNG_MAP2(logical_and, truth(a) * truth(b))
    RUNG_MAP2(logical_or, max(truth(a), truth(b)))
    default:
      return apply_scalar(code, to, n, x, y);
  }
}

template <class T>
void round_through(float* to, int64_t n, const float* x) {
  T narrow[kLanes];
  each_vector(n, [&](int64_t i, auto part) RUNG_INLINE {
    store(narrow, load(x + i, part), part);
    store(to + i, load(narrow, part), part);
  });
}

void select(float* to, int64_t n, const float* condition, const float* x, const float* y) {
  each_vector(n, [&](int64_t i, auto part) RUNG_INLINE {
    store(to + i, select_true(load(condition + i, part), load(x + i, part), load(y + i, part)), part);
  });
}

void step(const PointwiseStep& s, float* const* slots, float* to, int64_t n) {
  const float *x = slots[s.from[0]], *y = slots[s.from[1]];
  switch (s.code) {
    case Code::select:
      return select(to, n, x, y, slots[s.from[2]]);
    case Code::round_bf16:
      return round_through<bf16>(to, n, x);
    case Code::round_f16:
      return round_through<f16>(to, n, x);
    case Code::copy:
      return map(to, n, x, [](Vec a) RUNG_INLINE { return a; });
    default:
      return apply(s.code, to, n, x, y);
  }
}

// ---- operands

template <class T>
RUNG_SIMD float one(const T* p) {
  if constexpr (sizeof(T) == sizeof(bf16) && (__is_same(T, bf16) || __is_same(T, f16))) {
    float value[kLanes];
    store(value, load(p, 1));
    return value[0];
  } else {
    return static_cast<float>(*p);
  }
}

template <class T>
void widen(float* to, int64_t n, const T* from, int64_t stride) {
  if (stride == 0) {
    Vec same = set1(one(from));
    return each_vector(n, [&](int64_t i, auto part) RUNG_INLINE { store(to + i, same, part); });
  }
  if constexpr (__is_same(T, float) || __is_same(T, bf16) || __is_same(T, f16))
    if (stride == 1)
      return each_vector(n, [&](int64_t i, auto part) RUNG_INLINE { store(to + i, load(from + i, part), part); });
  if (stride == 1)
    for (int64_t i = 0; i < n; ++i) to[i] = one(from + i);
  else
    for (int64_t i = 0; i < n; ++i) to[i] = one(from + i * stride);
}

// A run of `count` values of an operand, `offset` elements from `from` on and `stride` elements apart.
struct Run {
  const void* from;
  int64_t offset, stride, count;
};

template <class T>
void widen_run(const Run& run, float* to) {
  widen(to, run.count, static_cast<const T*>(run.from) + run.offset, run.stride);
}

void read(DType dtype, const Run& run, float* to) {
  switch (dtype) {
    case DType::f32:
      return widen_run<float>(run, to);
    case DType::bf16:
      return widen_run<bf16>(run, to);
    case DType::f16:
      return widen_run<f16>(run, to);
    case DType::i64:
      return widen_run<int64_t>(run, to);
    case DType::i32:
      return widen_run<int32_t>(run, to);
    case DType::i8:
      return widen_run<int8_t>(run, to);
    default:
      return widen_run<uint8_t>(run, to);
  }
}

void write(DType dtype, void* out, int64_t at, const float* from, int64_t n) {
  if (dtype == DType::boolean) {
    for (int64_t i = 0; i < n; ++i) static_cast<uint8_t*>(out)[at + i] = from[i] != 0.0f;
  } else if (dtype == DType::bf16) {
    bf16* to = static_cast<bf16*>(out) + at;
    each_vector(n, [&](int64_t i, auto part) RUNG_INLINE { store(to + i, load(from + i, part), part); });
  } else {
    f16* to = static_cast<f16*>(out) + at;
    each_vector(n, [&](int64_t i, auto part) RUNG_INLINE { store(to + i, load(from + i, part), part); });
  }
}

// Runs one block: reads operands into slots (dense f32 is read in place), then takes the steps, the last one straight
// into the output if that is f32.
void block(const PointwiseWork& w, const int64_t* offsets, int64_t row, int64_t at, int64_t n) {
  const PointwisePlan& p = *w.plan;
  float* slots[kMaxPointwiseSlots];
  for (int i = 0; i < p.slots; ++i) slots[i] = w.scratch + i * kPointwiseBlock;
  for (int i = 0; i < p.inputs; ++i) {
    int64_t stride = p.loops.inner_strides[i], offset = offsets[i] + at * stride;
    if (p.input[i] == DType::f32 && stride == 1)
      slots[i] = const_cast<float*>(static_cast<const float*>(w.inputs[i])) + offset;
    else
      read(p.input[i], {w.inputs[i], offset, stride, n}, slots[i]);
  }
  int64_t position = row * p.loops.inner + at;
  for (int i = 0; i + 1 < p.steps; ++i) step(p.step[i], slots, slots[p.step[i].to], n);
  const PointwiseStep& last = p.step[p.steps - 1];
  if (p.out == DType::f32) return step(last, slots, static_cast<float*>(w.out) + position, n);
  if (last.code == Code::copy) return write(p.out, w.out, position, slots[last.from[0]], n);
  step(last, slots, slots[last.to], n);
  write(p.out, w.out, position, slots[last.to], n);
}

}  // namespace

void pointwise(const PointwiseWork& w) {
  const PointwisePlan& p = *w.plan;
  for (int i = 0; i < p.literals; ++i) {
    float* slot = w.scratch + (p.inputs + i) * kPointwiseBlock;
    for (int64_t j = 0; j < kPointwiseBlock; ++j) slot[j] = p.literal[i];
  }
  int64_t per_row = (p.loops.inner + kPointwiseBlock - 1) / kPointwiseBlock, known = -1;
  int64_t offsets[kMaxPointwiseInputs];
  for (int64_t i = w.begin; i < w.end; ++i) {
    int64_t row = i / per_row, at = i % per_row * kPointwiseBlock, rest = p.loops.inner - at;
    if (row != known) outer_offsets(p.loops, row, offsets);
    known = row;
    block(w, offsets, row, at, rest < kPointwiseBlock ? rest : kPointwiseBlock);
  }
}

}  // namespace rung::cpu::RUNG_ISA
