// The interpreter of all element-wise ops: each thread runs the program on one element or on eight neighbours.
// SPDX-License-Identifier: Apache-2.0
#include "ir/function_math.hpp"
#include "kernels/gpu/elements.cuh"
#include "kernels/gpu/fault.cuh"
#include "kernels/gpu/pointwise/activation.cuh"
#include "kernels/gpu/pointwise/elementwise_arguments.hpp"

namespace rung::gpu {
namespace {

using namespace functions;

static_assert(kElementwiseRun == kVector);

// ---- f32

// Functions that programs rarely use are out of line: they are long, and are called for every element of a vector.
__device__ __noinline__ float apply_rare(Code code, float x, float y) {
  switch (code) {
#define RUNG_CASE_common(kind, f32)
#define RUNG_CASE_rare(kind, f32) \
  case Code::kind:                \
    return f32;
#define RUNG_UNARY(kind, word, takes, use, f64, f32, integer) RUNG_CASE_##use(kind, f32)
#define RUNG_BINARY(kind, word, takes, infinity, order, use, f64, f32, integer) RUNG_CASE_##use(kind, f32)
#include "ir/functions.inc"
#undef RUNG_CASE_common
#undef RUNG_CASE_rare
    default:
      return nanf("");
  }
}

template <int V>
struct Values {
  float x[V];
};

template <int V, class F>
__device__ void each(Values<V>& out, F f) {
#pragma unroll
  for (int i = 0; i < V; ++i) out.x[i] = f(i);
}
template <int V, class F>
__device__ void map(const Values<V>& a, const Values<V>& b, Values<V>& out, F f) {
#pragma unroll
  for (int i = 0; i < V; ++i) out.x[i] = f(a.x[i], b.x[i]);
}

template <int V>
__device__ void apply(Code code, const Values<V>& a, const Values<V>& b, const Values<V>& c, Values<V>& out) {
  switch (code) {
#define RUNG_CASE_rare(kind, f32)
#define RUNG_CASE_common(kind, f32) \
  case Code::kind:                  \
    return map(a, b, out, [](float x, [[maybe_unused]] float y) { return f32; });
#define RUNG_UNARY(kind, word, takes, use, f64, f32, integer) RUNG_CASE_##use(kind, f32)
#define RUNG_BINARY(kind, word, takes, infinity, order, use, f64, f32, integer) RUNG_CASE_##use(kind, f32)
#include "ir/functions.inc"
    case Code::select:
      return each(out, [&](int i) { return a.x[i] != 0 ? b.x[i] : c.x[i]; });
    case Code::round_bf16:
      return each(out, [&](int i) { return to_float(from_float<bf16>(a.x[i])); });
    case Code::round_f16:
      return each(out, [&](int i) { return to_float(from_float<f16>(a.x[i])); });
    default:
      return each(out, [&](int i) { return apply_rare(code, a.x[i], b.x[i]); });
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

// An operand at one position, as loaded from memory.
template <int V>
struct Loaded {
  RawVector raw;
  Values<V> values;  // used if elements are not neighbours in memory
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

// Issues the loads of all operands before it uses the first.
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
    if (operands_of(step.code) > 1) y = fetch(a, step.from[1], value);
    if (operands_of(step.code) > 2) z = fetch(a, step.from[2], value);
    apply(step.code, x, y, z, value);
    if (step.to != kNowhere) write_slot(step.to, value);
  }
  if constexpr (V == 1)
    store_as<float>(a.output, a.out, position, value.x[0]);
  else
    store_vector(a.output, a.out, int64_t{position} * V, value.x);
}

// ---- integers, exact in 64 bits; they wrap around

__device__ int64_t unsupported() { return 0; }  // the type rule refuses integers

__device__ int64_t apply_integer(const ElementwiseArguments& a, Code code, int64_t x, int64_t y, int64_t z) {
  const auto divide = [&](int64_t dividend, int64_t divisor) -> int64_t {
    if (divisor != 0) return quotient(dividend, divisor);
    report_fault(a.fault, Fault::integer_divided_by_zero);
    return 0;
  };
  switch (code) {
#define RUNG_UNARY(kind, word, takes, use, f64, f32, integer) \
  case Code::kind:                                            \
    return integer;
#define RUNG_BINARY(kind, word, takes, infinity, order, use, f64, f32, integer) \
  case Code::kind:                                                              \
    return integer;
#include "ir/functions.inc"
    default:
      return x ? y : z;  // select
  }
}

}  // namespace

#define RUNG_VARIANT(entry, ...)   \
  RUNG_KERNEL(kElementwiseThreads) \
  entry(const __grid_constant__ ElementwiseArguments a) { interpret<ElementwiseConfig{__VA_ARGS__}>(a); }
#include "kernels/gpu/pointwise/elementwise.inc"
#undef RUNG_VARIANT

// Integer ops have at most one step over at most three operands.
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
  store_as<int64_t>(a.output, a.out, position, a.steps ? apply_integer(a, a.step[0].code, x[0], x[1], x[2]) : x[0]);
}

}  // namespace rung::gpu
