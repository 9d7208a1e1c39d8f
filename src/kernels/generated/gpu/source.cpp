// Chooses the form of a kernel, element by element or row by row, and writes the first.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/generated/gpu/source.hpp"

#include <algorithm>

#include "ir/fault.hpp"
#include "kernels/generated/gpu/function_text.hpp"
#include "kernels/generated/gpu/lines.hpp"
#include "kernels/generated/gpu/row_form.hpp"

namespace rung::gpu {
namespace {

// Every register then stands for elements: one thread computes `v` neighbours along the inner axis.
GeneratedSource elementwise(GeneratedWork& work, const GpuInfo& gpu) {
  std::fill(work.rows.begin(), work.rows.end(), false);
  std::vector<Strides> strides = work.strides;
  strides.push_back(contiguous_strides(work.shape));
  const Loops loops = collapse(work.shape, strides);
  int64_t v = neighbours(work, loops, loops.inner, loops.inner_strides);
  const int64_t elements = work.shape.product();
  while (v > 1 && elements / v < gpu.multiprocessors * kGeneratedThreads) v /= 2;  // blocks first, then neighbours
  const int64_t count = elements / v, per_row = loops.inner / v;
  GeneratedSource out{{},
                      static_cast<uint32_t>((count + kGeneratedThreads - 1) / kGeneratedThreads),
                      static_cast<uint32_t>(kGeneratedThreads)};
  GeneratedLines lines(work);
  lines.line("const uint32_t t = block_index() * {}u + thread_in_block();", kGeneratedThreads);
  lines.line("if (t >= {}u) return;", count);
  lines.line("const uint32_t row = t / {}u;", per_row);
  lines.line("const int64_t e = t % {}u * {};", per_row, v);
  lines.offsets(loops, "row");
  for (size_t i = 0; i < work.strides.size(); ++i) {
    const std::string_view type = element_type(work.problem.inputs[i].dtype);
    const int64_t stride = loops.inner_strides[i];
    if (stride == 1)
      lines.line("const auto p{0} = *(const Pack<{1}, {2}>*)(in_memory<const {1}>(a.operand[{0}]) + o{0} + e);", i,
                 type, v);
    else
      lines.line(
          "Pack<{0}, {1}> p{2};\n  for (int v = 0; v < {1}; ++v) p{2}.x[v] = in_memory<const {0}>(a.operand[{2}])"
          "[o{2} + (e + v) * {3}];",
          type, v, i, stride);
    out.bytes_in_flight += static_cast<uint32_t>((stride == 0 ? 1 : v) * size_of(work.problem.inputs[i].dtype));
  }
  for (size_t i = 0; i < work.results.size(); ++i)
    lines.line("Pack<{}, {}> q{};", element_type(work.results[i].type.dtype), v, i);
  lines.line("for (int v = 0; v < {}; ++v) {{", v);
  const bool integers = work.computes_integers();
  const std::string_view type = work.computed_type();
  for (size_t i = 0; i < work.strides.size(); ++i)
    lines.line("  const {0} r{1} = {2}(p{1}.x[v]);", type, i, integers ? type : "to_float");
  if (integers && as<Formula>(work.problem.op)->divides())
    lines.line("  if (r1 == 0) *in_memory<uint32_t>(a.fault) = {}u;",
               static_cast<uint32_t>(Fault::integer_divided_by_zero));
  for (size_t i = 0; i < work.program.instructions.size(); ++i)
    lines.line("  const {} r{} = {};", type, work.program.inputs + i,
               lines.value_of(std::get<PointwiseInstruction>(work.program.instructions[i]), ""));
  for (size_t i = 0; i < work.results.size(); ++i)
    lines.line("  q{}.x[v] = {}<{}>(r{});", i, integers ? "static_cast" : "from_float",
               element_type(work.results[i].type.dtype), work.program.results[i].index);
  lines.line("}}");
  for (size_t i = 0; i < work.results.size(); ++i)
    lines.line("*(Pack<{0}, {1}>*)(in_memory<{0}>(a.result[{2}]) + (int64_t{{t}} * {1})) = q{2};",
               element_type(work.results[i].type.dtype), v, i);
  out.text = entry_text(work, out.threads, lines.text);
  return out;
}

}  // namespace

Result<GeneratedSource> generate_source(const Problem& problem, const GpuInfo& gpu) {
  RUNG_TRY(GeneratedWork work, work_of(problem));
  const bool by_element =
      !work.program.reduces() && std::ranges::none_of(work.program.results, [&](const RegionResult& r) {
        return work.rows[static_cast<size_t>(r.index)] && work.shape.rank() > 0 && work.shape.back() > 1;
      });
  if (by_element) return elementwise(work, gpu);
  return row_form(work, gpu);
}

}  // namespace rung::gpu
