// Rows of recurrences: one call takes all steps. Each part owns some numbers of the state, with their weights side by
// side; a phase is a step, as every part of it reads the whole state before.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/recurrent/recurrence.hpp"

#include <algorithm>

#include "base/divide.hpp"
#include "ir/with_type.hpp"
#include "kernels/cpu/rows.hpp"

namespace rung::cpu {
namespace {

template <CpuIsa isa>
constexpr int64_t kLanes = isa == CpuIsa::avx512 ? avx512::kRecurrenceLanes : avx2::kRecurrenceLanes;

int64_t steps_of(const Problem& p) { return p.output.shape[0]; }
int64_t state_of(const Problem& p) { return p.output.shape[1] * p.output.shape[2]; }

template <CpuIsa isa>
Verdict supports(const Problem& p, const Machine& cpu) {
  if (auto verdict = wants<isa>(cpu); !verdict) return verdict;
  if (!is_computed_float(p.output.dtype)) return reject("only f32, bf16 and f16");
  constexpr int64_t kMostSteps = 1 << 20;
  if (steps_of(p) > kMostSteps) return reject(fmt::format("more than {} steps", kMostSteps));
  if (!p.inputs[1].constant) return reject("the weights are not constant");
  if (p.inputs[0].strides.back() != 1) return reject("the gates of x are not dense");
  for (size_t i = 2; i < p.inputs.size(); ++i)
    if (!p.inputs[i].contiguous()) return reject("a state or the bias is not dense");
  return accept();
}

template <CpuIsa isa>
size_t packed_bytes(const Problem& p, const Machine&, size_t i) {
  const int64_t hidden = p.output.shape[2];
  const int64_t floats = round_up(hidden, kLanes<isa>) * gates_of(p.as<Recurrence>().cell) * hidden;
  return i == 1 ? static_cast<size_t>(floats) * sizeof(float) : 0;
}

// [gates hidden,hidden] => [blocks,hidden,gates,lanes], zeros behind the last.
template <CpuIsa isa>
void pack(const Problem& p, const Machine&, size_t, const void* from, void* to) {
  const int64_t hidden = p.output.shape[2], gates = gates_of(p.as<Recurrence>().cell);
  const Strides& strides = p.inputs[1].strides;
  float* out = static_cast<float*>(to);
  with_type(p.inputs[1].dtype, [&](auto tag) {
    const auto* w = static_cast<const decltype(tag)*>(from);
    for (int64_t first = 0; first < hidden; first += kLanes<isa>)
      for (int64_t k = 0; k < hidden; ++k)
        for (int64_t gate = 0; gate < gates; ++gate)
          for (int64_t i = first; i < first + kLanes<isa>; ++i)
            *out++ = i < hidden ? static_cast<float>(w[(gate * hidden + i) * strides[0] + k * strides[1]]) : 0.0f;
  });
}

// Two states, of which each step reads one and writes the other, and a lstm's c.
size_t scratch_bytes(const Problem& p, const Machine&) { return 3 * sizeof(float) * static_cast<size_t>(state_of(p)); }

// The first phase is its own, in which states become f32.
template <CpuIsa isa>
Split split(const Problem& p, const Machine&) {
  constexpr double kLeastUs = 4, kWeightUs = 40e-6;  // of a step, so that parts are worth their meeting; of one weight
  const double us = kWeightUs * static_cast<double>(p.inputs[1].shape.product() * p.output.shape[1]);
  const auto parts = static_cast<int>(std::min<int64_t>(p.threads, divide_up(p.output.shape[2], kLanes<isa>)));
  return {.parts = us < kLeastUs ? 1 : std::max(1, parts), .phases = static_cast<int>(steps_of(p)) + 1};
}

struct States {
  float *h[2], *c;
  explicit States(const Call& call) {
    auto* first = static_cast<float*>(call.scratch);
    for (float*& state : h) state = first, first += state_of(call.problem);
    c = first;
  }
};

void widen_states(const Call& call, const States& states) {
  const Problem& p = call.problem;
  with_type(p.output.dtype, [&](auto tag) {
    using T = decltype(tag);
    for (int64_t i = 0; i < state_of(p); ++i) {
      states.h[0][i] = static_cast<float>(call.in<T>(2)[i]);
      if (p.as<Recurrence>().cell == CellKind::lstm) states.c[i] = static_cast<float>(call.in<T>(3)[i]);
    }
  });
}

template <CpuIsa isa>
void step(const Call& call, const States& states, int64_t index) {
  const Problem& p = call.problem;
  const auto& op = p.as<Recurrence>();
  const Operand& x = p.inputs[0];
  const int64_t steps = steps_of(p), at = op.backward ? steps - 1 - index : index, hidden = p.output.shape[2];
  const auto bytes = static_cast<int64_t>(size_of(p.output.dtype));
  const Range mine = share(divide_up(hidden, kLanes<isa>), call.part, call.parts);
  const bool is_last = op.cell == CellKind::lstm && index == steps - 1;
  const RecurrenceStep one{.cell = op.cell,
                           .type = p.output.dtype,
                           .batch = p.output.shape[1],
                           .hidden = hidden,
                           .first_block = mine.begin,
                           .blocks = mine.count(),
                           .w = call.in<float>(1),
                           .x = call.in<std::byte>(0) + at * x.strides[0] * bytes,
                           .bias = op.cell == CellKind::gru ? call.inputs[3] : nullptr,
                           .x_row = x.strides[1],
                           .x_gate = hidden,
                           .before = states.h[index % 2],
                           .after = states.h[1 - index % 2],
                           .c = states.c,
                           .out = call.out<std::byte>() + at * state_of(p) * bytes,
                           .last_c = is_last ? call.out<std::byte>() + results_of(p)[1].offset : nullptr};
  isa == CpuIsa::avx512 ? avx512::recurrence_step(one) : avx2::recurrence_step(one);
}

template <CpuIsa isa>
void run(const Call& call) {
  const States states(call);
  if (call.phase > 0) return step<isa>(call, states, call.phase - 1);
  if (call.part == 0) widen_states(call, states);
}

template <CpuIsa isa>
constexpr Kernel row(std::string_view name) {
  return {.name = name,
          .op = "recurrence",
          .supports = supports<isa>,
          .run = run<isa>,
          .scratch_bytes = scratch_bytes,
          .packed_bytes = packed_bytes<isa>,
          .pack = pack<isa>,
          .split = split<isa>};
}

}  // namespace

extern const Kernel recurrence_avx512 = row<CpuIsa::avx512>("recurrence_avx512");
extern const Kernel recurrence_avx2 = row<CpuIsa::avx2>("recurrence_avx2");

}  // namespace rung::cpu
