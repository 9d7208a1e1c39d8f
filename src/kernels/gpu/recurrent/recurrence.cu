// A step of a recurrence: products of the state before it with all gates, and what the gates let through.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/gpu/elements.cuh"
#include "kernels/gpu/recurrent/recurrence_arguments.hpp"

namespace rung::gpu {
namespace {

__device__ float sigmoid(float x) { return 1.0f / (1.0f + expf(-x)); }

template <class T>
__device__ float value_at(const void* from, int64_t at) {
  return to_float(static_cast<const T*>(from)[at]);
}

// Returns a number of a state before the step.
template <class T>
__device__ float state_at(const RecurrenceArguments& a, const void* state, uint32_t at) {
  return a.first ? value_at<T>(state, at) : value_at<float>(state, at);
}

// The lanes share each product's terms; every lane gets the sums.
template <class T, int gates>
__device__ void multiply(const RecurrenceArguments& a, uint32_t row, uint32_t number, float (&sums)[gates]) {
  for (uint32_t k = lane(); k < a.hidden; k += kLanes) {
    const float h = state_at<T>(a, a.h, row * a.hidden + k);
#pragma unroll
    for (int g = 0; g < gates; ++g)
      sums[g] = fmaf(value_at<T>(a.w, (int64_t{a.hidden} * g + number) * a.hidden + k), h, sums[g]);
  }
#pragma unroll
  for (float& sum : sums) sum = lanes_sum(sum);
}

template <RecurrenceConfig config>
__device__ void recurrence(const RecurrenceArguments& a) {
  using T = Element<config.type>;
  constexpr int kGates = static_cast<int>(gates_of(config.cell));
  allow_dependents();
  const uint32_t at = blockIdx.x * (kRecurrenceThreads / kLanes) + warp();
  if (at >= a.states) return;
  const uint32_t row = at / a.hidden, number = at % a.hidden;
  wait_for_producers();
  float sums[kGates] = {};
  multiply<T>(a, row, number, sums);
  if (lane() != 0) return;
  float x[kGates];
#pragma unroll
  for (int g = 0; g < kGates; ++g) x[g] = value_at<T>(a.x, row * a.x_row + int64_t{a.hidden} * g + number);
  float h;
  if constexpr (config.cell == CellKind::rnn) {
    h = tanhf(x[0] + sums[0]);
  } else if constexpr (config.cell == CellKind::gru) {
    const float fresh = tanhf(x[2] + sigmoid(x[0] + sums[0]) * (sums[2] + value_at<T>(a.bias, number)));
    h = fresh + sigmoid(x[1] + sums[1]) * (state_at<T>(a, a.h, at) - fresh);
  } else {
    const float c = sigmoid(x[1] + sums[1]) * state_at<T>(a, a.c, at) + sigmoid(x[0] + sums[0]) * tanhf(x[2] + sums[2]);
    a.c_after[at] = c;
    if (a.last_c) static_cast<T*>(a.last_c)[at] = from_float<T>(c);
    h = sigmoid(x[3] + sums[3]) * tanhf(c);
  }
  a.h_after[at] = h;
  static_cast<T*>(a.out)[at] = from_float<T>(h);
}

}  // namespace

#define RUNG_VARIANT(entry, ...)  \
  RUNG_KERNEL(kRecurrenceThreads) \
  entry(const __grid_constant__ RecurrenceArguments a) { recurrence<RecurrenceConfig{__VA_ARGS__}>(a); }
#include "kernels/gpu/recurrent/recurrence.inc"
#undef RUNG_VARIANT

}  // namespace rung::gpu
