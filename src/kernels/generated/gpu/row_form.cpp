// Cuts rows into runs of neighbours for each thread, and writes a loop over these for each instruction.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/generated/gpu/row_form.hpp"

#include <algorithm>

#include "kernels/generated/gpu/function_text.hpp"
#include "kernels/generated/gpu/lines.hpp"

namespace rung::gpu {
namespace {

constexpr int64_t kMostThreads = 1024, kMostInRegisters = 32;

// `threads` of one row hold `chunks` runs of `v` neighbours each; a block has `rows` rows, more than one only if each
// is a warp's or a part of a warp's.
struct RowCut {
  int64_t v, threads, chunks, rows;
  bool whole;  // there are no places beyond the row
};

Result<RowCut> cut_rows(const GeneratedWork& work, const Loops& loops, std::span<const int64_t> along,
                        const GpuInfo& gpu) {
  const int64_t width = work.shape.back();
  RowCut cut{neighbours(work, loops, width, along), gpu.lanes, 1, 1, false};
  const auto chunks = [&] { return (width + cut.threads * cut.v - 1) / (cut.threads * cut.v); };
  const auto has_idle_lanes = [&] { return loops.outer * width < cut.v * gpu.multiprocessors * kGeneratedThreads; };
  while (cut.v > 1 && width < gpu.lanes * cut.v && has_idle_lanes()) cut.v /= 2;
  // Short rows share a warp. They have two threads each: of what one thread computes alone, a compiler may fuse a
  // product with its difference from itself, as x - max(x) is in rows of one element.
  while (cut.threads > 2 && width <= cut.threads / 2 * cut.v) cut.threads /= 2;
  constexpr int64_t kWarpsShare = 4;
  if (chunks() > kWarpsShare) cut.threads = kGeneratedThreads;
  const bool few = loops.outer * gpu.lanes * kWarpsShare <= gpu.multiprocessors * kGeneratedThreads;
  while (few && chunks() > 1 && cut.threads < kGeneratedThreads)
    cut.threads *= 2;  // a thread's chain of work is what lasts
  while (chunks() * cut.v > kMostInRegisters && cut.threads < kMostThreads) cut.threads *= 2;
  cut.chunks = chunks();
  if (cut.chunks * cut.v > kMostInRegisters)
    return fail("rows of {} elements, wanted at most {}", width, kMostThreads * kMostInRegisters);
  if (cut.threads <= gpu.lanes)
    while (cut.rows * cut.threads < gpu.lanes ||
           (cut.rows * cut.threads < kGeneratedThreads && loops.outer >= 2 * cut.rows * gpu.multiprocessors))
      cut.rows *= 2;
  cut.whole = cut.chunks * cut.threads * cut.v == width;
  return cut;
}

// Writes the body of a kernel by rows.
class RowWriter {
 public:
  RowWriter(const GeneratedWork& work, const Loops& loops, std::span<const int64_t> along, const RowCut& cut, int lanes)
      : work_(work), loops_(loops), along_(along), cut_(cut), lanes_(lanes), lines_(work) {}

  std::string run() {
    lines_.line("allow_dependents();");
    if (cut_.threads > lanes_) lines_.line("[[maybe_unused]] __shared__ float scanned[{}];", cut_.threads / lanes_);
    lines_.line("const uint32_t me = thread_in_block() % {}u;", cut_.threads);
    lines_.line("const uint32_t row = block_index() * {}u + thread_in_block() / {}u;", cut_.rows, cut_.threads);
    if (loops_.outer % cut_.rows) lines_.line("if (row >= {}u) return;", loops_.outer);
    lines_.offsets(loops_, "row");
    lines_.line("wait_for_producers();");
    for (size_t i = 0; i < work_.program.inputs; ++i) declare(i);
    for (size_t i = 0; i < work_.program.inputs; ++i) load(i);
    for (size_t i = 0; i < work_.program.instructions.size(); ++i) compute(i);
    for (size_t i = 0; i < work_.results.size(); ++i) store(i);
    return lines_.text;
  }

 private:
  void declare(size_t reg) {
    if (!work_.rows[reg]) lines_.line("float r{}[{}][{}];", reg, cut_.chunks, cut_.v);
  }

  // Writes a loop over this thread's chunks around `inside`, which may name c, e and, if `each`, the neighbour v.
  void loop(const std::string& inside, bool each, const std::string& outside_row = {}) {
    lines_.line("#pragma unroll\n  for (int c = 0; c < {}; ++c) {{", cut_.chunks);
    lines_.line("  [[maybe_unused]] const uint32_t e = (c * {}u + me) * {}u;", cut_.threads, cut_.v);
    const std::string neighbours = each ? fmt::format("for (int v = 0; v < {}; ++v) ", cut_.v) : "";
    const std::string guard = outside_row.empty() || cut_.whole ? "" : fmt::format("if (e < {}u) ", work_.shape.back());
    lines_.line("  {}{{ {}{} }}", guard, neighbours, inside);
    if (!guard.empty() && outside_row != " ") lines_.line("  else {{ {} }}", outside_row);
    lines_.line("}}");
  }

  void load(size_t i) {
    const std::string_view type = element_type(work_.problem.inputs[i].dtype);
    const std::string base = fmt::format("in_memory<const {}>(a.operand[{}]) + o{}", type, i, i);
    if (work_.rows[i]) return lines_.line("const float r{} = to_float(*({}));", i, base);
    const std::string none = fmt::format("for (int v = 0; v < {}; ++v) r{}[c][v] = 0.0f;", cut_.v, i);
    if (along_[i] == 1)
      loop(fmt::format("const auto p = *(const Pack<{0}, {1}>*)({2} + e); for (int v = 0; v < {1}; ++v) r{3}[c][v] = "
                       "to_float(p.x[v]);",
                       type, cut_.v, base, i),
           false, none);
    else
      loop(fmt::format("r{}[c][v] = to_float(({})[int64_t{{e + v}} * {}]);", i, base, along_[i]), true, none);
  }

  void compute(size_t i) {
    const size_t reg = work_.program.inputs + i;
    if (const auto* reduction = std::get_if<RowReduction>(&work_.program.instructions[i]))
      return reduce(reg, *reduction);
    if (const auto* scanned = std::get_if<RowScan>(&work_.program.instructions[i])) return scan(reg, *scanned);
    const auto& instruction = std::get<PointwiseInstruction>(work_.program.instructions[i]);
    if (work_.rows[reg]) return lines_.line("const float r{} = {};", reg, lines_.value_of(instruction, ""));
    declare(reg);
    loop(fmt::format("r{}[c][v] = {};", reg, lines_.value_of(instruction, "[c][v]")), true);
  }

  // Joins what a thread has, then the lanes of each warp, then the warps, always in one order.
  void reduce(size_t reg, const RowReduction& reduction) {
    const bool place = reduction.kind == RowKind::argmax, mean = reduction.kind == RowKind::mean;
    const std::string total = fmt::format("t{}", reg);
    const std::string part = part_text(reduction.kind, lines_.place_of(reduction.of, "[c][v]"), "e + v");
    lines_.line("auto {} = {};", total, neutral_text(reduction.kind));
    loop(fmt::format("{} = {};", total, join_text(reduction.kind, total, part)), true, " ");
    lines_.line("for (int mask = 1; mask < {}; mask *= 2) {{", std::min<int64_t>(lanes_, cut_.threads));
    lines_.line("  const auto other = lane_value({}, mask);", total);
    lines_.line("  {0} = {1};\n  }}", total, join_text(reduction.kind, total, "other"));
    if (cut_.threads > lanes_) {
      const std::string parts = fmt::format("parts{}", reg);  // its own, so that no warp waits before it writes
      lines_.line("__shared__ {} {}[{}];", place ? "Largest" : "float", parts, cut_.threads / lanes_);
      lines_.line("if (thread_in_block() % {0}u == 0) {1}[thread_in_block() / {0}u] = {2};", lanes_, parts, total);
      lines_.line("sync_block();\n  {} = {}[0];", total, parts);
      lines_.line("for (int w = 1; w < {}; ++w) {} = {};", cut_.threads / lanes_, total,
                  join_text(reduction.kind, total, parts + "[w]"));
    }
    lines_.line("const float r{} = {}{};", reg, total,
                place  ? ".place"
                : mean ? fmt::format(" / {}.0f", work_.shape.back())
                       : "");
  }

  // Scans the neighbours of each thread, then puts what stands before them in front, chunk by chunk. Places beyond the
  // row come last, so they change nothing in it.
  void scan(size_t reg, const RowScan& scan) {
    if (work_.rows[reg]) return lines_.line("const float r{} = {};", reg, lines_.place_of(scan.of, ""));
    const std::string join = fmt::format("{}()", join_type(scan.kind));
    declare(reg);
    lines_.line("float c{} = {};", reg, neutral_text(scan.kind));
    loop(fmt::format("for (int v = 0; v < {0}; ++v) r{1}[c][v] = {2}; "
                     "for (int v = 1; v < {0}; ++v) r{1}[c][v] = {3}(r{1}[c][v - 1], r{1}[c][v]); "
                     "const float before = scan_before<{4}>(r{1}[c][{0} - 1], c{1}, {3}, {5}); "
                     "for (int v = 0; v < {0}; ++v) r{1}[c][v] = {3}(before, r{1}[c][v]);",
                     cut_.v, reg, lines_.place_of(scan.of, "[c][v]"), join, cut_.threads,
                     cut_.threads > lanes_ ? "scanned" : "nullptr"),
         false);
  }

  void store(size_t i) {
    const std::string_view type = element_type(work_.results[i].type.dtype);
    const auto reg = static_cast<size_t>(work_.program.results[i].index);
    if (work_.rows[reg])
      return lines_.line("if (me == 0) in_memory<{0}>(a.result[{1}])[row] = from_float<{0}>(r{2});", type, i, reg);
    loop(fmt::format("Pack<{0}, {1}> q; for (int v = 0; v < {1}; ++v) q.x[v] = from_float<{0}>(r{2}[c][v]); "
                     "*(Pack<{0}, {1}>*)(in_memory<{0}>(a.result[{3}]) + int64_t{{row}} * {4} + e) = q;",
                     type, cut_.v, reg, i, work_.shape.back()),
         false, " ");
  }

  const GeneratedWork& work_;
  const Loops& loops_;
  std::span<const int64_t> along_;
  const RowCut& cut_;
  const int lanes_;
  GeneratedLines lines_;
};

}  // namespace

Result<GeneratedSource> row_form(const GeneratedWork& work, const GpuInfo& gpu) {
  Shape outer = work.shape;
  outer.erase(work.shape.rank() - 1);
  std::vector<Strides> strides = work.strides;
  std::vector<int64_t> along;
  for (Strides& of_one : strides) {
    along.push_back(of_one.back());
    of_one.erase(work.shape.rank() - 1);
  }
  const Loops loops = collapse_outer(outer, strides);
  RUNG_TRY(const RowCut cut, cut_rows(work, loops, along, gpu));
  const auto threads = static_cast<uint32_t>(cut.rows * cut.threads);
  GeneratedSource out{{}, static_cast<uint32_t>((loops.outer + cut.rows - 1) / cut.rows), threads};
  for (size_t i = 0; i < work.program.inputs; ++i)
    out.bytes_in_flight +=
        static_cast<uint32_t>((work.rows[i] ? 1 : cut.chunks * cut.v) * size_of(work.problem.inputs[i].dtype));
  out.text = entry_text(work, threads, RowWriter(work, loops, along, cut, gpu.lanes).run());
  return out;
}

}  // namespace rung::gpu
