// Normalisations and softmax over the last axis: a warp or a block per row keeps values in registers between passes.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/gpu/elements.cuh"
#include "kernels/gpu/norm/norm_arguments.hpp"
#include "kernels/gpu/quantize/byte_elements.cuh"
#include "kernels/gpu/reductions.cuh"

namespace rung::gpu {
namespace {

static_assert(kNormVector == kVector);

// ---- eight columns of an operand; columns at `width` and beyond read as 0

struct Loaded {
  RawVector raw;
  float values[kVector];
};

__device__ void load(Loaded& to, const NormOperand& from, int64_t row, uint32_t column, uint32_t width) {
  if (from.vectors) {
    if (column < width) to.raw = load_vector(from.base, from.type, row + column);
    return;
  }
#pragma unroll
  for (uint32_t i = 0; i < kVector; ++i)
    to.values[i] = column + i < width ? load_as<float>(from.base, from.type, row + (column + i) * from.step) : 0.0f;
}

__device__ void finish(const Loaded& from, const NormOperand& operand, float (&out)[kVector]) {
  if (operand.vectors) return unpack(from.raw, operand.type, out);
#pragma unroll
  for (int i = 0; i < kVector; ++i) out[i] = from.values[i];
}

__device__ void store(const NormOperand& to, int64_t row, uint32_t column, uint32_t width, const float (&x)[kVector]) {
  if (to.vectors) {
    if (column < width) store_vector(to.base, to.type, row + column, x);
    return;
  }
#pragma unroll
  for (uint32_t i = 0; i < kVector; ++i)
    if (column + i < width) store_as<float>(to.base, to.type, row + (column + i) * to.step, x[i]);
}

// ---- the differences of the kinds

template <class Operation>
__device__ float reduce(const NormArguments& a, float value, Operation operation, float* partial) {
  return a.group == kLanes ? reduce_warp(value, operation) : reduce_block(value, operation, partial);
}

// Returns the shift of every value: the row's mean, or its largest value for softmax.
__device__ float shift_of(const NormArguments& a, float sum, float largest, float* partial) {
  if (a.kind == NormKind::layer_norm) return reduce(a, sum, Sum{}, partial) / static_cast<float>(a.width);
  if (a.kind == NormKind::softmax) return reduce(a, largest, Max{}, partial);
  return 0.0f;
}

__device__ float shifted(const NormArguments& a, float value, float shift) {
  return a.kind == NormKind::softmax ? expf(value - shift) : value - shift;
}

__device__ float share_of_total(const NormArguments& a, float value) {
  return a.kind == NormKind::softmax ? value : value * value;
}

// Returns the factor of shifted values, from the sum over all shares.
__device__ float scale_of(const NormArguments& a, float total) {
  switch (a.kind) {
    case NormKind::softmax: return 1.0f / total;
    case NormKind::l2_normalize: {
      const float norm = sqrtf(total);
      return 1.0f / (norm < a.eps ? a.eps : norm);
    }
    default: return rsqrtf(total / static_cast<float>(a.width) + a.eps);
  }
}

__device__ void prefetch(const NormOperand& operand, uint32_t column, uint32_t width) {
  if (operand.base && operand.vectors && column < width)
    prefetch_to_l2(&element<const uint8_t>(operand.base, column * (operand.type == DType::f32 ? 4 : 2)));
}

// ---- rows that fit into the registers of their group

template <int kChunks>
struct Row {
  const NormArguments& a;
  int64_t x, residual, out;  // elements from each operand's first to the row's first
  uint32_t member;           // this thread's number in the group
  float values[kChunks][kVector];

  __device__ uint32_t column(int chunk) const { return (chunk * a.group + member) * kVector; }

  __device__ void read() {
    Loaded main[kChunks], added[kChunks];
#pragma unroll
    for (int c = 0; c < kChunks; ++c) {
      load(main[c], a.x, x, column(c), a.width);
      if (a.residual.base) load(added[c], a.residual, residual, column(c), a.width);
    }
#pragma unroll
    for (int c = 0; c < kChunks; ++c) {
      finish(main[c], a.x, values[c]);
      if (!a.residual.base) continue;
      float more[kVector];
      finish(added[c], a.residual, more);
#pragma unroll
      for (int i = 0; i < kVector; ++i) values[c][i] += more[i];
    }
  }

  // Calls f on every value of the row, without the padding.
  template <class F>
  __device__ void each(F f) {
#pragma unroll
    for (int c = 0; c < kChunks; ++c)
#pragma unroll
      for (uint32_t i = 0; i < kVector; ++i)
        if (column(c) + i < a.width) f(values[c][i]);
  }

  __device__ void write(float scale) {
#pragma unroll
    for (int c = 0; c < kChunks; ++c) {
      if (a.weight.base) {
        Loaded loaded;
        float weight[kVector], bias[kVector] = {};
        load(loaded, a.weight, 0, column(c), a.width);
        finish(loaded, a.weight, weight);
        if (a.bias.base) load(loaded, a.bias, 0, column(c), a.width), finish(loaded, a.bias, bias);
#pragma unroll
        for (int i = 0; i < kVector; ++i)
          values[c][i] = values[c][i] * scale * (a.weight_offset + weight[i]) + bias[i];
      } else {
#pragma unroll
        for (int i = 0; i < kVector; ++i) values[c][i] *= scale;
      }
      store(a.out, out, column(c), a.width, values[c]);
    }
  }
};

template <int kChunks>
__device__ void norm(const NormArguments& a) {
  __shared__ float partial[2][kMaxWarps];
  const uint32_t member = threadIdx.x % a.group, index = blockIdx.x * (blockDim.x / a.group) + threadIdx.x / a.group;
  allow_dependents();
  if (index >= a.rows.count) return;  // never only a part of a block that shares a row
  int64_t begins[3] = {};
  a.rows.locate(index, begins);
  Row<kChunks> row{a, begins[0], begins[1], begins[2], member, {}};
  if (a.weights_are_constant)
    for (int c = 0; c < kChunks; ++c)
      prefetch(a.weight, row.column(c), a.width), prefetch(a.bias, row.column(c), a.width);
  wait_for_producers();
  row.read();
  float sum = 0, largest = -INFINITY, total = 0;
  row.each([&](float value) { sum += value, largest = Max{}(largest, value); });
  const float shift = shift_of(a, sum, largest, partial[0]);
  row.each([&](float& value) { value = shifted(a, value, shift), total += share_of_total(a, value); });
  row.write(scale_of(a, reduce(a, total, Sum{}, partial[1])));
}

// ---- longer rows and rows to 8 bits, read again in every pass

__device__ float read_one(const NormArguments& a, const int64_t (&begins)[3], uint32_t column) {
  float value = load_as<float>(a.x.base, a.x.type, begins[0] + column * a.x.step);
  if (a.residual.base) value += load_as<float>(a.residual.base, a.residual.type, begins[1] + column * a.residual.step);
  return value;
}

__device__ void norm_long_row(const NormArguments& a) {
  __shared__ float partial[2][kMaxWarps];
  allow_dependents();
  int64_t begins[3] = {};
  a.rows.locate(blockIdx.x, begins);
  wait_for_producers();
  float sum = 0, largest = -INFINITY, total = 0;
  for (uint32_t c = threadIdx.x; c < a.width; c += blockDim.x) {
    const float value = read_one(a, begins, c);
    sum += value, largest = Max{}(largest, value);
  }
  const float shift = shift_of(a, sum, largest, partial[0]);
  for (uint32_t c = threadIdx.x; c < a.width; c += blockDim.x)
    total += share_of_total(a, shifted(a, read_one(a, begins, c), shift));
  const float scale = scale_of(a, reduce(a, total, Sum{}, partial[1]));
  for (uint32_t c = threadIdx.x; c < a.width; c += blockDim.x) {
    float value = shifted(a, read_one(a, begins, c), shift) * scale;
    if (a.weight.base) value *= a.weight_offset + load_as<float>(a.weight.base, a.weight.type, c * a.weight.step);
    if (a.bias.base) value += load_as<float>(a.bias.base, a.bias.type, c * a.bias.step);
    store_as_float(a.out.base, a.out.type, begins[2] + c * a.out.step, value);
  }
}

}  // namespace

#define RUNG_VARIANT(entry, chunks) \
  RUNG_KERNEL(kNormThreads) entry(const __grid_constant__ NormArguments a) { norm<chunks>(a); }
#include "kernels/gpu/norm/norm.inc"
#undef RUNG_VARIANT
RUNG_KERNEL(kNormThreads) norm_long(const __grid_constant__ NormArguments a) { norm_long_row(a); }

}  // namespace rung::gpu
