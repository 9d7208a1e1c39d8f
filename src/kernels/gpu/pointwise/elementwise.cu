// One interpreter for all element-wise ops: each thread runs the program on one element or on eight neighbours.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/gpu/pointwise/activation.cuh"
#include "kernels/gpu/elements.cuh"
#include "kernels/gpu/pointwise/elementwise_arguments.hpp"

namespace rung::gpu {
namespace {

static_assert(kElementwiseRun == kVector);

// ---- f32

// The functions that programs rarely use, out of line: they are long, and each is needed for every element of a vector.
__device__ __noinline__ float apply_rare(Code code, float x, float y) {
  switch (code) {
    case Code::log: return logf(x);
    case Code::sin: return sinf(x);
    case Code::cos: return cosf(x);
    case Code::tanh: return tanhf(x);
    case Code::erf: return erff(x);
    case Code::gelu: return 0.5f * x * erfcf(-0.70710678118654752f * x);
    case Code::pow: return powf(x, y);
    case Code::eq: return x == y;
    case Code::ne: return x != y;
    case Code::lt: return x < y;
    case Code::le: return x <= y;
    case Code::gt: return x > y;
    case Code::ge: return x >= y;
    case Code::logical_and: return x != 0 && y != 0;
    case Code::logical_or: return x != 0 || y != 0;
    case Code::logical_not: return x == 0;
    default: return nanf("");
  }
}

__device__ float sigmoid(float x) { return 1.0f / (1.0f + expf(-x)); }
__device__ float max_of(float a, float b) { return a != a || a > b ? a : b; }
__device__ float min_of(float a, float b) { return a != a || a < b ? a : b; }

template <int V>
struct Values {
  float x[V];
};

template <int V, class F>
__device__ void each(Values<V>& out, F f) {
#pragma unroll
  for (int i = 0; i < V; ++i) out.x[i] = f(i);
}

template <int V>
__device__ void apply(Code code, const Values<V>& a, const Values<V>& b, const Values<V>& c, Values<V>& out) {
  switch (code) {
    case Code::neg: return each(out, [&](int i) { return -a.x[i]; });
    case Code::abs: return each(out, [&](int i) { return fabsf(a.x[i]); });
    case Code::exp: return each(out, [&](int i) { return expf(a.x[i]); });
    case Code::sqrt: return each(out, [&](int i) { return sqrtf(a.x[i]); });
    case Code::rsqrt: return each(out, [&](int i) { return rsqrtf(a.x[i]); });
    case Code::reciprocal: return each(out, [&](int i) { return 1.0f / a.x[i]; });
    case Code::square: return each(out, [&](int i) { return a.x[i] * a.x[i]; });
    case Code::sigmoid: return each(out, [&](int i) { return sigmoid(a.x[i]); });
    case Code::relu: return each(out, [&](int i) { return a.x[i] < 0 ? 0.0f : a.x[i]; });
    case Code::silu: return each(out, [&](int i) { return a.x[i] * sigmoid(a.x[i]); });
    case Code::gelu_tanh: return each(out, [&](int i) { return gelu_tanh(a.x[i]); });
    case Code::add: return each(out, [&](int i) { return a.x[i] + b.x[i]; });
    case Code::sub: return each(out, [&](int i) { return a.x[i] - b.x[i]; });
    case Code::mul: return each(out, [&](int i) { return a.x[i] * b.x[i]; });
    case Code::div: return each(out, [&](int i) { return a.x[i] / b.x[i]; });
    case Code::max: return each(out, [&](int i) { return max_of(a.x[i], b.x[i]); });
    case Code::min: return each(out, [&](int i) { return min_of(a.x[i], b.x[i]); });
    case Code::select: return each(out, [&](int i) { return a.x[i] != 0 ? b.x[i] : c.x[i]; });
    case Code::round_bf16: return each(out, [&](int i) { return to_float(from_float<bf16>(a.x[i])); });
    case Code::round_f16: return each(out, [&](int i) { return to_float(from_float<f16>(a.x[i])); });
    default: return each(out, [&](int i) { return apply_rare(code, a.x[i], b.x[i]); });
  }
}

// Slots live in shared memory, so that the program may name them at run time; a thread sees its own column only.
extern __shared__ float4 shared_slots[];

template <int V>
__device__ Values<V> read_slot(int slot) {
  Values<V> out;
  if constexpr (V == 1) {
    out.x[0] = reinterpret_cast<const float*>(shared_slots)[slot * blockDim.x + threadIdx.x];
  } else {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const float4 four = shared_slots[(2 * slot + half) * blockDim.x + threadIdx.x];
      out.x[4 * half] = four.x, out.x[4 * half + 1] = four.y;
      out.x[4 * half + 2] = four.z, out.x[4 * half + 3] = four.w;
    }
  }
  return out;
}

template <int V>
__device__ void write_slot(int slot, const Values<V>& in) {
  if constexpr (V == 1) {
    reinterpret_cast<float*>(shared_slots)[slot * blockDim.x + threadIdx.x] = in.x[0];
  } else {
    shared_slots[2 * slot * blockDim.x + threadIdx.x] = make_float4(in.x[0], in.x[1], in.x[2], in.x[3]);
    shared_slots[(2 * slot + 1) * blockDim.x + threadIdx.x] = make_float4(in.x[4], in.x[5], in.x[6], in.x[7]);
  }
}

template <int V>
__device__ Values<V> fetch(const ElementwiseArguments& a, uint8_t from, const Values<V>& previous) {
  if (from == kPrevious) return previous;
  if (from < kFirstLiteral) return read_slot<V>(from);
  Values<V> out;
  each(out, [&](int) { return a.literal[from - kFirstLiteral]; });
  return out;
}

// An operand at one position, as it came from memory.
template <int V>
struct Loaded {
  RawVector raw;
  Values<V> values;  // where elements are not neighbours in memory
};

template <int V>
__device__ Loaded<V> load(const ElementwiseArguments& a, int i, int64_t at) {
  Loaded<V> out;
  if (V == kVector && a.inner_stride[i] == 1) {
    out.raw = load_vector(a.input[i], a.type[i], at);
  } else if (V == kVector && a.inner_stride[i] == 0) {
    const float value = load_as<float>(a.input[i], a.type[i], at);
    each(out.values, [&](int) { return value; });
  } else {
    each(out.values, [&](int v) { return load_as<float>(a.input[i], a.type[i], at + v * a.inner_stride[i]); });
  }
  return out;
}

template <int V>
__device__ Values<V> finish(const ElementwiseArguments& a, int i, const Loaded<V>& loaded) {
  if constexpr (V == kVector) {
    if (a.inner_stride[i] == 1) {
      Values<V> out;
      unpack(loaded.raw, a.type[i], out.x);
      return out;
    }
  }
  return loaded.values;
}

// All operands are asked for before the first is used.
template <ElementwiseConfig config>
__device__ Values<config.run> load_operands(const ElementwiseArguments& a, uint32_t position) {
  int64_t offsets[kMaxElementwiseInputs] = {};
  a.nest.locate(position, offsets);
  constexpr int V = config.run;
  Loaded<V> loaded[config.inputs];
#pragma unroll
  for (int i = 0; i < config.inputs; ++i)
    if (i < a.inputs) loaded[i] = load<V>(a, i, offsets[i]);
#pragma unroll
  for (int i = 1; i < config.inputs; ++i)
    if (i < a.inputs) write_slot(i, finish(a, i, loaded[i]));
  const Values<V> first = finish(a, 0, loaded[0]);
  write_slot(0, first);
  return first;
}

template <ElementwiseConfig config>
__device__ void interpret(const ElementwiseArguments& a) {
  constexpr int V = config.run;
  allow_dependents();
  const uint32_t position = blockIdx.x * blockDim.x + threadIdx.x;
  if (position >= a.nest.count) return;
  wait_for_producers();
  Values<V> value = load_operands<config>(a, position);
  for (int i = 0; i < a.steps; ++i) {
    const ElementwiseStep step = a.step[i];
    Values<V> x = fetch(a, step.from[0], value), y = x, z = x;
    if (step.code >= Code::add && step.code <= Code::select) y = fetch(a, step.from[1], value);
    if (step.code == Code::select) z = fetch(a, step.from[2], value);
    apply(step.code, x, y, z, value);
    if (step.to != kNowhere) write_slot(step.to, value);
  }
  if constexpr (V == 1)
    store_as<float>(a.output, a.out, position, value.x[0]);
  else
    store_vector(a.output, a.out, int64_t{position} * V, value.x);
}

// ---- integers, exact in 64 bits; they wrap around

__device__ int64_t divide(const ElementwiseArguments& a, int64_t x, int64_t y) {
  if (y == 0) {
    element<Fault>(a.fault, 0) = Fault::integer_divided_by_zero;
    return 0;
  }
  return y == -1 ? static_cast<int64_t>(-static_cast<uint64_t>(x)) : x / y;
}

__device__ int64_t apply_integer(const ElementwiseArguments& a, Code code, const int64_t (&x)[3]) {
  const auto first = static_cast<uint64_t>(x[0]), second = static_cast<uint64_t>(x[1]);
  switch (code) {
    case Code::neg: return static_cast<int64_t>(-first);
    case Code::abs: return x[0] < 0 ? static_cast<int64_t>(-first) : x[0];
    case Code::square: return static_cast<int64_t>(first * first);
    case Code::relu: return x[0] < 0 ? 0 : x[0];
    case Code::logical_not: return x[0] == 0;
    case Code::add: return static_cast<int64_t>(first + second);
    case Code::sub: return static_cast<int64_t>(first - second);
    case Code::mul: return static_cast<int64_t>(first * second);
    case Code::div: return divide(a, x[0], x[1]);
    case Code::max: return x[0] > x[1] ? x[0] : x[1];
    case Code::min: return x[0] < x[1] ? x[0] : x[1];
    case Code::eq: return x[0] == x[1];
    case Code::ne: return x[0] != x[1];
    case Code::lt: return x[0] < x[1];
    case Code::le: return x[0] <= x[1];
    case Code::gt: return x[0] > x[1];
    case Code::ge: return x[0] >= x[1];
    case Code::logical_and: return x[0] && x[1];
    case Code::logical_or: return x[0] || x[1];
    default: return x[0] ? x[1] : x[2];  // select
  }
}

}  // namespace

#define RUNG_VARIANT(entry, ...) \
  RUNG_KERNEL(kElementwiseThreads) \
      entry(const __grid_constant__ ElementwiseArguments a) { interpret<ElementwiseConfig{__VA_ARGS__}>(a); }
#include "kernels/gpu/pointwise/elementwise.inc"
#undef RUNG_VARIANT

// At most one step over at most three operands.
RUNG_KERNEL() elementwise_integer(const __grid_constant__ ElementwiseArguments a) {
  allow_dependents();
  const uint32_t position = blockIdx.x * blockDim.x + threadIdx.x;
  if (position >= a.nest.count) return;
  wait_for_producers();
  int64_t offsets[kMaxElementwiseInputs] = {}, x[3] = {};
  a.nest.locate(position, offsets);
#pragma unroll
  for (int i = 0; i < 3; ++i)
    if (i < a.inputs) x[i] = load_as<int64_t>(a.input[i], a.type[i], offsets[i]);
  store_as<int64_t>(a.output, a.out, position, a.steps ? apply_integer(a, a.step[0].code, x) : x[0]);
}

}  // namespace rung::gpu
