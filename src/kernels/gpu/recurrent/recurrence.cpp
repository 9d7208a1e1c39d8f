// The row of recurrences: a launch for each step, as all of a step read the whole state before it.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/gpu/make_nest.hpp"
#include "kernels/gpu/recurrent/recurrence_arguments.hpp"
#include "kernels/gpu/variant.hpp"

namespace rung::gpu {
namespace {

constexpr Variant<RecurrenceConfig> kVariants[] = {
#include "kernels/gpu/recurrent/recurrence.inc"
};

constexpr int64_t kMostSteps = 1 << 14;  // nodes that a graph takes without trouble

int64_t steps_of(const Problem& p) { return p.output.shape[0]; }
int64_t states_of(const Problem& p) { return p.output.shape[1] * p.output.shape[2]; }

Verdict supports(const Problem& p, const Machine&) {
  if (!is_computed_float(p.output.dtype)) return reject("only f32, bf16 and f16");
  if (steps_of(p) > kMostSteps) return reject(fmt::format("more than {} steps", kMostSteps));
  if (p.inputs[0].strides.back() != 1) return reject("the gates of x are not dense");
  for (size_t i = 1; i < p.inputs.size(); ++i)
    if (!p.inputs[i].contiguous()) return reject("weights, a state or the bias are not dense");
  return supports_count(p.output.shape);
}

// Two states, of which each step reads one and writes the other, and a lstm's c.
size_t scratch_bytes(const Problem& p, const Machine&) { return 3 * sizeof(float) * static_cast<size_t>(states_of(p)); }

Status enqueue(const Call& call) {
  const Problem& p = call.problem;
  const int64_t steps = steps_of(p), states = states_of(p);
  if (states == 0) return {};
  const auto& op = p.as<Recurrence>();
  const auto bytes = static_cast<int64_t>(size_of(p.output.dtype));
  const bool lstm = op.cell == CellKind::lstm;
  auto* scratch = static_cast<float*>(device_pointer(call.scratch));
  const auto place = [&](Address from, int64_t elements) {
    return device_pointer(from + static_cast<Address>(elements * bytes));
  };
  RecurrenceArguments a{.w = device_pointer(call.inputs[1]),
                        .bias = op.cell == CellKind::gru ? device_pointer(call.inputs[3]) : nullptr,
                        .h = device_pointer(call.inputs[2]),
                        .c = lstm ? device_pointer(call.inputs[3]) : nullptr,
                        .c_after = scratch + 2 * states,
                        .x_row = p.inputs[0].strides[1],
                        .states = static_cast<uint32_t>(states),
                        .hidden = static_cast<uint32_t>(p.output.shape[2]),
                        .first = true};
  const Launch launch = launch_threads(call, states * call.gpu.info().lanes, kRecurrenceThreads);
  for (int64_t step = 0; step < steps; ++step) {
    const int64_t at = op.backward ? steps - 1 - step : step;
    a.x = place(call.inputs[0], at * p.inputs[0].strides[0]);
    a.out = place(call.output, at * states);
    a.h_after = scratch + step % 2 * states;
    a.last_c = lstm && step == steps - 1 ? place(call.output + results_of(p)[1].offset, 0) : nullptr;
    RUNG_CHECK(call.launch("recurrence", symbol_of(kVariants, {op.cell, p.output.dtype}), launch, a));
    a.h = a.h_after, a.c = a.c_after, a.first = false;
  }
  return {};
}

}  // namespace

extern const Kernel recurrence_gpu{.name = "recurrence_gpu",
                                   .op = "recurrence",
                                   .supports = supports,
                                   .scratch_bytes = scratch_bytes,
                                   .enqueue = enqueue};

}  // namespace rung::gpu
