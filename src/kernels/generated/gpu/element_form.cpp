// Shares elements among threads in runs of neighbours, and writes a loop over a thread's runs.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/generated/gpu/element_form.hpp"

#include <algorithm>

#include "ir/fault.hpp"
#include "kernels/generated/gpu/function_text.hpp"
#include "kernels/generated/gpu/lines.hpp"

namespace rung::gpu {
namespace {

// A thread computes `chunks` runs of `v` neighbours along the inner axis; the runs of a block's threads stand side by
// side, chunk by chunk. There are `runs` in all.
struct ElementCut {
  int64_t v, chunks, runs;
};

ElementCut cut_elements(const GeneratedWork& work, const Loops& loops, const GpuInfo& gpu) {
  const int64_t elements = work.shape.product(), enough = gpu.multiprocessors * kGeneratedThreads;
  ElementCut cut{neighbours(work, loops, loops.inner, loops.inner_strides), 1, 0};
  while (cut.v > 1 && elements / cut.v < enough) cut.v /= 2;  // blocks first, then neighbours
  cut.runs = elements / cut.v;
  while (cut.v * cut.chunks < kMostNeighbours && cut.runs / (2 * cut.chunks) >= enough) cut.chunks *= 2;
  return cut;
}

// Writes the body of a kernel by elements.
class ElementWriter {
 public:
  ElementWriter(const GeneratedWork& work, const Loops& loops, const ElementCut& cut)
      : work_(work), loops_(loops), cut_(cut), lines_(work) {}

  std::string run() {
    lines_.line("allow_dependents();");
    lines_.line("const uint32_t first = block_index() * {}u + thread_in_block();", kGeneratedThreads * cut_.chunks);
    lines_.line("wait_for_producers();");
    for (size_t i = 0; i < work_.strides.size(); ++i)
      lines_.line("Pack<{}, {}> p{}[{}];", element_type(work_.problem.inputs[i].dtype), cut_.v, i, cut_.chunks);
    begin_chunk();
    load();
    end_chunk();
    begin_chunk();
    compute();
    end_chunk();
    return lines_.text;
  }

 private:
  void begin_chunk() {
    lines_.line("#pragma unroll\n  for (int c = 0; c < {}; ++c) {{", cut_.chunks);
    lines_.line("const uint32_t t = first + c * {}u;", kGeneratedThreads);
    lines_.line("if (t >= {}u) break;", cut_.runs);
  }
  void end_chunk() { lines_.line("}}"); }

  void load() {
    const int64_t per_row = loops_.inner / cut_.v;
    lines_.line("const uint32_t row = t / {}u;", per_row);
    lines_.line("const int64_t e = t % {}u * {};", per_row, cut_.v);
    lines_.offsets(loops_, "row");
    for (size_t i = 0; i < work_.strides.size(); ++i) {
      const std::string_view type = element_type(work_.problem.inputs[i].dtype);
      if (const int64_t stride = loops_.inner_strides[i]; stride == 1)
        lines_.line("p{0}[c] = *(const Pack<{1}, {2}>*)(in_memory<const {1}>(a.operand[{0}]) + o{0} + e);", i, type,
                    cut_.v);
      else
        lines_.line(
            "for (int v = 0; v < {0}; ++v) p{1}[c].x[v] = in_memory<const {2}>(a.operand[{1}])[o{1} + (e + v) * {3}];",
            cut_.v, i, type, stride);
    }
  }

  void compute() {
    const bool integers = work_.computes_integers();
    const std::string_view type = work_.computed_type();
    for (size_t i = 0; i < work_.results.size(); ++i)
      lines_.line("Pack<{}, {}> q{};", element_type(work_.results[i].type.dtype), cut_.v, i);
    lines_.line("for (int v = 0; v < {}; ++v) {{", cut_.v);
    for (size_t i = 0; i < work_.strides.size(); ++i)
      lines_.line("  const {0} r{1} = {2}(p{1}[c].x[v]);", type, i, integers ? type : "to_float");
    if (integers && as<Formula>(work_.problem.op)->divides())
      lines_.line("  if (r1 == 0) store_atomic(in_memory<uint32_t>(a.fault), {}u);",
                  static_cast<uint32_t>(Fault::integer_divided_by_zero));
    for (size_t i = 0; i < work_.program.instructions.size(); ++i)
      lines_.line("  const {} r{} = {};", type, work_.program.inputs + i,
                  lines_.value_of(std::get<PointwiseInstruction>(work_.program.instructions[i]), ""));
    for (size_t i = 0; i < work_.results.size(); ++i)
      lines_.line("  q{}.x[v] = {}<{}>(r{});", i, integers ? "static_cast" : "from_float",
                  element_type(work_.results[i].type.dtype), work_.program.results[i].index);
    lines_.line("}}");
    for (size_t i = 0; i < work_.results.size(); ++i)
      lines_.line("*(Pack<{0}, {1}>*)(in_memory<{0}>(a.result[{2}]) + int64_t{{t}} * {1}) = q{2};",
                  element_type(work_.results[i].type.dtype), cut_.v, i);
  }

  const GeneratedWork& work_;
  const Loops& loops_;
  const ElementCut& cut_;
  GeneratedLines lines_;
};

}  // namespace

GeneratedSource element_form(GeneratedWork& work, const GpuInfo& gpu) {
  std::fill(work.rows.begin(), work.rows.end(), false);  // every register stands for elements
  std::vector<Strides> strides = work.strides;
  strides.push_back(contiguous_strides(work.shape));
  const Loops loops = collapse(work.shape, strides);
  const ElementCut cut = cut_elements(work, loops, gpu);
  const int64_t share = kGeneratedThreads * cut.chunks;
  GeneratedSource out{
      {}, static_cast<uint32_t>((cut.runs + share - 1) / share), static_cast<uint32_t>(kGeneratedThreads)};
  for (size_t i = 0; i < work.strides.size(); ++i)
    out.bytes_in_flight += static_cast<uint32_t>(cut.chunks * (loops.inner_strides[i] == 0 ? 1 : cut.v) *
                                                 size_of(work.problem.inputs[i].dtype));
  out.text = entry_text(work, out.threads, ElementWriter(work, loops, cut).run());
  return out;
}

}  // namespace rung::gpu
