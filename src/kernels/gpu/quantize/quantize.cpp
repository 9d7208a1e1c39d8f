// The row of quantize.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/divide.hpp"
#include "ir/quantised.hpp"
#include "kernels/gpu/make_nest.hpp"
#include "kernels/gpu/quantize/machine_f8.hpp"
#include "kernels/gpu/quantize/quantize_arguments.hpp"
#include "kernels/gpu/variant.hpp"

namespace rung::gpu {
namespace {

constexpr Variant<QuantizeConfig> kVariants[] = {
#include "kernels/gpu/quantize/quantize.inc"
};

Verdict supports(const Problem& problem, const Machine& machine) {
  const Operand& x = problem.inputs[0];
  if (!is_computed_float(x.dtype)) return reject(fmt::format("x is {}", name_of(x.dtype)));
  const DType to = problem.output.dtype, of_machine = machine_f8(machine.gpu);
  if (to != DType::i8 && to != of_machine)
    return reject(fmt::format("to {}, wanted i8 or {}", name_of(to), name_of(of_machine)));
  if (problem.as<Quantize>().group > 0) return reject("it scales whole rows, not groups of columns");
  if (!problem.as<Quantize>().outliers.empty()) return reject("it keeps no outliers beside columns of 8 bits");
  if (!x.is_rows()) return reject("x is not made of dense rows");
  if (x.shape.product() == 0) return reject("x has no elements");
  return supports_count(x.shape);
}

// Returns the elements of a vector: 16 bytes of x where its rows and the result's begin at multiples of vectors, or 1.
uint32_t vector_of(const Call& call) {
  const Operand& x = call.problem.inputs[0];
  const auto vector = static_cast<int64_t>(16 / size_of(x.dtype));
  const bool whole = x.shape.back() % vector == 0 && x.row_stride() % vector == 0 && call.inputs[0] % 16 == 0 &&
                     call.output % static_cast<uint64_t>(vector) == 0;
  return whole ? static_cast<uint32_t>(vector) : 1;
}

Status enqueue(const Call& call) {
  const Operand& x = call.problem.inputs[0];
  const DType to = call.problem.output.dtype;
  const QuantizeConfig config{x.dtype, to == DType::i8, vector_of(call)};
  const QuantizeArguments a{.x = call.inputs[0],
                            .out = call.output,
                            .scales = call.output + results_of(call.problem)[1].offset,
                            .x_row = x.row_stride(),
                            .vectors = static_cast<uint32_t>(x.shape.back()) / config.vector,
                            .most = largest_of(to)};
  const auto lanes = static_cast<uint32_t>(call.gpu.info().lanes);
  const uint32_t threads = round_up(divide_up(a.vectors, 2u), lanes);  // two vectors are under way together
  const Launch launch{.grid = {static_cast<uint32_t>(x.rows())},
                      .block = {std::min(threads, kQuantizeMostThreads)},
                      .dependent = call.gpu.info().dependent_launch};
  return call.launch("quantize", symbol_of(kVariants, config), launch, a);
}

}  // namespace

extern const Kernel quantize_gpu{.name = "quantize_gpu", .op = "quantize", .supports = supports, .enqueue = enqueue};

}  // namespace rung::gpu
