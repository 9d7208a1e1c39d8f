// The row of casts from and to floats of 8 bits.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/gpu/make_nest.hpp"
#include "kernels/gpu/quantize/cast_f8_arguments.hpp"
#include "kernels/gpu/quantize/machine_f8.hpp"
#include "kernels/gpu/variant.hpp"

namespace rung::gpu {
namespace {

constexpr Variant<CastF8Config> kVariants[] = {
#include "kernels/gpu/quantize/cast_f8.inc"
};

CastF8Config config_of(const Problem& problem) {
  const bool to_f8 = is_f8(problem.output.dtype);
  return {to_f8 ? problem.inputs[0].dtype : problem.output.dtype, to_f8};
}

Verdict supports(const Problem& problem, const Machine& machine) {
  const Operand& x = problem.inputs[0];
  const DType of_machine = machine_f8(machine.gpu), to = problem.output.dtype;
  if ((x.dtype == of_machine) == (to == of_machine) || !is_computed_float(config_of(problem).other))
    return reject(fmt::format("{} to {}, wanted {} on one side and f32, bf16 or f16 on the other", name_of(x.dtype),
                              name_of(to), name_of(of_machine)));
  if (!x.contiguous()) return reject("x is not dense");
  return supports_count(x.shape);
}

Status enqueue(const Call& call) {
  const CastF8Arguments a{.x = call.inputs[0], .out = call.output, .count = call.problem.output.shape.product()};
  if (a.count == 0) return {};
  return call.launch("cast_f8", symbol_of(kVariants, config_of(call.problem)),
                     launch_threads(call, (a.count + 3) / 4, kCastF8Threads), a);
}

}  // namespace

extern const Kernel cast_f8_gpu{
    .name = "cast_f8_gpu", .op = "cast", .supports = supports, .alignment = 16, .enqueue = enqueue};

}  // namespace rung::gpu
