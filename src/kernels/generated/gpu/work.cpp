// Finds the facts of a problem that generated kernels use, and refuses what they do not take.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/generated/gpu/work.hpp"

#include <algorithm>

#include "kernels/elementwise_program.hpp"
#include "kernels/generated/gpu/source.hpp"
#include "kernels/strided.hpp"

namespace rung::gpu {
namespace {

bool is_written(DType dtype) { return is_computed_float(dtype) || dtype == DType::boolean || dtype == DType::i64; }

Status check(const GeneratedWork& work) {
  if (work.problem.inputs.size() > kMaxGeneratedOperands) return fail("{} operands", work.problem.inputs.size());
  if (work.shape.product() == 0 || work.shape.product() >= int64_t{1} << 31)
    return fail("{} elements, wanted 1 to 2^31", work.shape.product());
  if (work.computes_integers()) return {};  // of any width
  for (size_t i = 0; i < work.problem.inputs.size(); ++i)
    if (const DType dtype = work.problem.inputs[i].dtype; !is_computed_float(dtype) && dtype != DType::boolean)
      return fail("operand {} is {}", i, name_of(dtype));
  for (const ResultPlace& result : work.results)
    if (!is_written(result.type.dtype)) return fail("a result is {}", name_of(result.type.dtype));
  return {};
}

}  // namespace

Result<GeneratedWork> work_of(const Problem& p) {
  RegionProgram program;
  if (const auto* region = as<Region>(p.op)) {
    RUNG_TRY(program, parse_region(region->program, p.inputs.size()));
  } else {
    RUNG_TRY(const PointwiseProgram elements, program_of(p));
    program.inputs = elements.inputs;
    program.instructions.assign(elements.instructions.begin(), elements.instructions.end());
    program.results = {{static_cast<int>(elements.registers()) - 1, p.output.dtype}};
  }
  const std::vector<Type> types = operand_types(p);
  RUNG_TRY(const Shape shape, region_shape(types));
  GeneratedWork work{std::move(program), shape, {}, {}, results_of(p), p};
  work.rows = row_registers(work.program, types, shape);
  for (const Operand& x : p.inputs) work.strides.push_back(broadcast_strides(x, shape));
  RUNG_CHECK(check(work));
  return work;
}

int64_t neighbours(const GeneratedWork& work, const Loops& loops, int64_t inner,
                   std::span<const int64_t> inner_strides) {
  constexpr int64_t kAccessBytes = 16;
  int64_t v = kMostNeighbours;
  const auto halve_until = [&](int64_t divides) {
    while (divides % v != 0) v /= 2;
  };
  const auto fit = [&](DType dtype) { v = std::min(v, kAccessBytes / static_cast<int64_t>(size_of(dtype))); };
  halve_until(inner);
  for (size_t i = 0; i < work.strides.size(); ++i) {
    if (inner_strides[i] != 1) continue;
    fit(work.problem.inputs[i].dtype);
    for (int axis = 0; axis < loops.rank; ++axis) halve_until(loops.strides[axis][i]);
  }
  for (const ResultPlace& result : work.results) fit(result.type.dtype);
  return v;
}

}  // namespace rung::gpu
