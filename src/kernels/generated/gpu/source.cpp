// Chooses the form of a kernel, element by element or row by row, and writes its text.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/generated/gpu/source.hpp"

#include <algorithm>

#include "ir/fault.hpp"
#include "kernels/collapse.hpp"
#include "kernels/elementwise_program.hpp"
#include "kernels/generated/gpu/function_text.hpp"
#include "kernels/strided.hpp"

namespace rung::gpu {
namespace {

constexpr int64_t kThreads = 256, kMostThreads = 1024, kMostInRegisters = 32;
constexpr int64_t kMostNeighbours = 8;  // of one thread in one access, and at hand at once where accesses hold fewer

// The facts that both forms share: the program, the operands' strides over the shape, and the results.
struct Work {
  RegionProgram program;
  Shape shape;
  std::vector<bool> rows;  // by register
  std::vector<Strides> strides;
  std::vector<ResultPlace> results;
  const Problem& problem;

  // Returns whether it computes with i32, as formulas of integers do.
  bool computes_integers() const { return as<Formula>(problem.op) && !is_float(problem.inputs[0].dtype); }
};

Result<Work> work_of(const Problem& p) {
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
  Work work{std::move(program), shape, {}, {}, results_of(p), p};
  work.rows = row_registers(work.program, types, shape);
  for (const Operand& x : p.inputs) work.strides.push_back(broadcast_strides(x, shape));
  return work;
}

Status check_integers(const Problem& problem) {
  const auto is_taken = [](DType dtype) { return dtype == DType::i32 || dtype == DType::i8 || dtype == DType::u8; };
  for (const Operand& x : problem.inputs)
    if (!is_taken(x.dtype)) return fail("an operand is {}", name_of(x.dtype));
  return {};
}

bool is_written(DType dtype) { return is_computed_float(dtype) || dtype == DType::boolean || dtype == DType::i64; }

Status check(const Work& work) {
  if (work.problem.inputs.size() > kMaxGeneratedOperands) return fail("{} operands", work.problem.inputs.size());
  if (work.shape.product() == 0 || work.shape.product() >= int64_t{1} << 31)
    return fail("{} elements, wanted 1 to 2^31", work.shape.product());
  if (work.computes_integers()) return check_integers(work.problem);
  for (size_t i = 0; i < work.problem.inputs.size(); ++i)
    if (const DType dtype = work.problem.inputs[i].dtype; !is_computed_float(dtype) && dtype != DType::boolean)
      return fail("operand {} is {}", i, name_of(dtype));
  for (const ResultPlace& result : work.results)
    if (!is_written(result.type.dtype)) return fail("a result is {}", name_of(result.type.dtype));
  for (const RegionInstruction& instruction : work.program.instructions) {
    if (const auto* reduction = std::get_if<RowReduction>(&instruction);
        reduction && reduction->kind == RowKind::argmax)
      return fail("{} has no generated form", name_of(reduction->kind));
    if (const auto* scan = std::get_if<RowScan>(&instruction))
      return fail("{} has no generated form", name_of(scan->kind));
  }
  return {};
}

// Lines of a function's body, with what both forms write alike.
class Body {
 public:
  explicit Body(const Work& work) : work_(work) {}

  template <class... Args>
  void line(fmt::format_string<Args...> format, Args&&... args) {
    text += "  " + fmt::format(format, std::forward<Args>(args)...) + "\n";
  }

  // Declares an offset for each operand, from the outer axes at position `from`, which is the name of a uint32_t.
  void offsets(const Loops& loops, std::string_view from) {
    line("uint32_t rest = {};", from);
    for (int axis = loops.rank - 1; axis >= 0; --axis) {
      line("const int64_t at{} = rest % {}u;", axis, loops.shape[axis]);
      line("rest /= {}u;", loops.shape[axis]);
    }
    for (size_t i = 0; i < work_.strides.size(); ++i) {
      std::string sum = "0";
      for (int axis = 0; axis < loops.rank; ++axis)
        if (loops.strides[axis][i] != 0) sum += fmt::format(" + at{} * {}", axis, loops.strides[axis][i]);
      line("const int64_t o{} = {};", i, sum);
    }
  }

  std::string operand_type(size_t i) const { return std::string(element_type(work_.problem.inputs[i].dtype)); }
  std::string place_of(const PointwiseOperand& operand, std::string_view element) const {
    if (const auto* value = std::get_if<float>(&operand)) return literal_text(*value);
    const int reg = std::get<Register>(operand).index;
    return fmt::format("r{}{}", reg, work_.rows[static_cast<size_t>(reg)] ? "" : element);
  }
  std::string value_of(const PointwiseInstruction& instruction, std::string_view element) const {
    std::array<std::string, 3> x;
    for (size_t j = 0; j < instruction.arity(); ++j) x[j] = place_of(instruction.operands[j], element);
    return call_text(instruction.function, x);
  }

  std::string text;

 private:
  const Work& work_;
};

std::string entry(const Work& work, uint32_t threads, const std::string& body) {
  return fmt::format(
      "#include \"generated.cuh\"\nstruct RungArguments {{ uint64_t operand[{}]; uint64_t result[8]; uint64_t fault; "
      "}};\n{}\n"
      "RUNG_KERNEL({}) {}(const RungArguments a) {{\n{}}}\n",
      kMaxGeneratedOperands,
      function_definitions(work.program, work.computes_integers() ? work.problem.output.dtype : DType::f32), threads,
      kGeneratedEntry, body);
}

// Returns the most neighbours of which accesses along the inner axis are whole and aligned, and 16 bytes at most: the
// lanes of a warp then access one run of memory.
int64_t neighbours(const Work& work, const Loops& loops, int64_t inner, std::span<const int64_t> inner_strides) {
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

// ---- element by element

// A thread computes `chunks` runs of `v` neighbours along the inner axis; the runs of a block's threads stand side by
// side, chunk by chunk. There are `runs` in all.
struct ElementCut {
  int64_t v, chunks, runs;
};

ElementCut cut_elements(const Work& work, const Loops& loops, const GpuInfo& gpu) {
  const int64_t elements = work.shape.product(), enough = gpu.multiprocessors * kThreads;
  ElementCut cut{neighbours(work, loops, loops.inner, loops.inner_strides), 1, 0};
  while (cut.v > 1 && elements / cut.v < enough) cut.v /= 2;  // blocks first, then neighbours
  cut.runs = elements / cut.v;
  while (cut.v * cut.chunks < kMostNeighbours && cut.runs / (2 * cut.chunks) >= enough) cut.chunks *= 2;
  return cut;
}

// Writes the body of a kernel by elements.
class ElementWriter {
 public:
  ElementWriter(const Work& work, const Loops& loops, const ElementCut& cut)
      : work_(work), loops_(loops), cut_(cut), body_(work) {}

  std::string run() {
    body_.line("allow_dependents();");
    body_.line("const uint32_t first = block_index() * {}u + thread_in_block();", kThreads * cut_.chunks);
    body_.line("wait_for_producers();");
    for (size_t i = 0; i < work_.strides.size(); ++i)
      body_.line("Pack<{}, {}> p{}[{}];", body_.operand_type(i), cut_.v, i, cut_.chunks);
    begin_chunk();
    load();
    end_chunk();
    begin_chunk();
    compute();
    end_chunk();
    return body_.text;
  }

 private:
  void begin_chunk() {
    body_.line("#pragma unroll\n  for (int c = 0; c < {}; ++c) {{", cut_.chunks);
    body_.line("const uint32_t t = first + c * {}u;", kThreads);
    body_.line("if (t >= {}u) break;", cut_.runs);
  }
  void end_chunk() { body_.line("}}"); }

  void load() {
    const int64_t per_row = loops_.inner / cut_.v;
    body_.line("const uint32_t row = t / {}u;", per_row);
    body_.line("const int64_t e = t % {}u * {};", per_row, cut_.v);
    body_.offsets(loops_, "row");
    for (size_t i = 0; i < work_.strides.size(); ++i) {
      const std::string type = body_.operand_type(i);
      if (const int64_t stride = loops_.inner_strides[i]; stride == 1)
        body_.line("p{0}[c] = *(const Pack<{1}, {2}>*)(in_memory<const {1}>(a.operand[{0}]) + o{0} + e);", i, type,
                   cut_.v);
      else
        body_.line(
            "for (int v = 0; v < {0}; ++v) p{1}[c].x[v] = in_memory<const {2}>(a.operand[{1}])[o{1} + (e + v) * {3}];",
            cut_.v, i, type, stride);
    }
  }

  void compute() {
    const bool integers = work_.computes_integers();
    const std::string_view type = integers ? "int" : "float";
    for (size_t i = 0; i < work_.results.size(); ++i)
      body_.line("Pack<{}, {}> q{};", element_type(work_.results[i].type.dtype), cut_.v, i);
    body_.line("for (int v = 0; v < {}; ++v) {{", cut_.v);
    for (size_t i = 0; i < work_.strides.size(); ++i)
      body_.line("  const {0} r{1} = {2}(p{1}[c].x[v]);", type, i, integers ? "int" : "to_float");
    if (integers && as<Formula>(work_.problem.op)->divides())
      body_.line("  if (r1 == 0) *in_memory<uint32_t>(a.fault) = {}u;",
                 static_cast<uint32_t>(Fault::integer_divided_by_zero));
    for (size_t i = 0; i < work_.program.instructions.size(); ++i)
      body_.line("  const {} r{} = {};", type, work_.program.inputs + i,
                 body_.value_of(std::get<PointwiseInstruction>(work_.program.instructions[i]), ""));
    for (size_t i = 0; i < work_.results.size(); ++i)
      body_.line("  q{}.x[v] = {}<{}>(r{});", i, integers ? "static_cast" : "from_float",
                 element_type(work_.results[i].type.dtype), work_.program.results[i].index);
    body_.line("}}");
    for (size_t i = 0; i < work_.results.size(); ++i)
      body_.line("*(Pack<{0}, {1}>*)(in_memory<{0}>(a.result[{2}]) + int64_t{{t}} * {1}) = q{2};",
                 element_type(work_.results[i].type.dtype), cut_.v, i);
  }

  const Work& work_;
  const Loops& loops_;
  const ElementCut& cut_;
  Body body_;
};

GeneratedSource by_elements(Work& work, const GpuInfo& gpu) {
  std::fill(work.rows.begin(), work.rows.end(), false);  // every register stands for elements
  std::vector<Strides> strides = work.strides;
  strides.push_back(contiguous_strides(work.shape));
  const Loops loops = collapse(work.shape, strides);
  const ElementCut cut = cut_elements(work, loops, gpu);
  const int64_t share = kThreads * cut.chunks;
  GeneratedSource out{{}, static_cast<uint32_t>((cut.runs + share - 1) / share), static_cast<uint32_t>(kThreads)};
  for (size_t i = 0; i < work.strides.size(); ++i)
    out.bytes_in_flight += static_cast<uint32_t>(cut.chunks * (loops.inner_strides[i] == 0 ? 1 : cut.v) *
                                                 size_of(work.problem.inputs[i].dtype));
  out.text = entry(work, out.threads, ElementWriter(work, loops, cut).run());
  return out;
}

// ---- row by row

// `threads` of one row hold `chunks` runs of `v` neighbours each; a block has `rows` rows, more than one only if each
// is a warp's or a part of a warp's.
struct RowCut {
  int64_t v, threads, chunks, rows;
  bool whole;  // there are no places beyond the row
};

Result<RowCut> cut_rows(const Work& work, const Loops& loops, std::span<const int64_t> along, const GpuInfo& gpu) {
  const int64_t width = work.shape.back();
  RowCut cut{neighbours(work, loops, width, along), gpu.lanes, 1, 1, false};
  const auto chunks = [&] { return (width + cut.threads * cut.v - 1) / (cut.threads * cut.v); };
  const auto has_idle_lanes = [&] { return loops.outer * width < cut.v * gpu.multiprocessors * kThreads; };
  while (cut.v > 1 && width < gpu.lanes * cut.v && has_idle_lanes()) cut.v /= 2;
  while (cut.threads > 1 && width <= cut.threads / 2 * cut.v) cut.threads /= 2;  // short rows share a warp
  constexpr int64_t kWarpsShare = 4;
  if (chunks() > kWarpsShare) cut.threads = kThreads;
  const bool few = loops.outer * gpu.lanes * kWarpsShare <= gpu.multiprocessors * kThreads;
  while (few && chunks() > 1 && cut.threads < kThreads) cut.threads *= 2;  // a thread's chain of work is what lasts
  while (chunks() * cut.v > kMostInRegisters && cut.threads < kMostThreads) cut.threads *= 2;
  cut.chunks = chunks();
  if (cut.chunks * cut.v > kMostInRegisters)
    return fail("rows of {} elements, wanted at most {}", width, kMostThreads * kMostInRegisters);
  if (cut.threads <= gpu.lanes)
    while (cut.rows * cut.threads < gpu.lanes ||
           (cut.rows * cut.threads < kThreads && loops.outer >= 2 * cut.rows * gpu.multiprocessors))
      cut.rows *= 2;
  cut.whole = cut.chunks * cut.threads * cut.v == width;
  return cut;
}

// Writes the body of a kernel by rows.
class RowWriter {
 public:
  RowWriter(const Work& work, const Loops& loops, std::span<const int64_t> along, const RowCut& cut, int lanes)
      : work_(work), loops_(loops), along_(along), cut_(cut), lanes_(lanes), body_(work) {}

  std::string run() {
    body_.line("allow_dependents();");
    body_.line("const uint32_t me = thread_in_block() % {}u;", cut_.threads);
    body_.line("const uint32_t row = block_index() * {}u + thread_in_block() / {}u;", cut_.rows, cut_.threads);
    if (loops_.outer % cut_.rows) body_.line("if (row >= {}u) return;", loops_.outer);
    body_.offsets(loops_, "row");
    body_.line("wait_for_producers();");
    for (size_t i = 0; i < work_.program.inputs; ++i) declare(i);
    for (size_t i = 0; i < work_.program.inputs; ++i) load(i);
    for (size_t i = 0; i < work_.program.instructions.size(); ++i) compute(i);
    for (size_t i = 0; i < work_.results.size(); ++i) store(i);
    return body_.text;
  }

 private:
  void declare(size_t reg) {
    if (!work_.rows[reg]) body_.line("float r{}[{}][{}];", reg, cut_.chunks, cut_.v);
  }

  // Writes a loop over this thread's chunks around `inside`, which may name c, e and, if `each`, the neighbour v.
  void loop(const std::string& inside, bool each, const std::string& outside_row = {}) {
    body_.line("#pragma unroll\n  for (int c = 0; c < {}; ++c) {{", cut_.chunks);
    body_.line("  [[maybe_unused]] const uint32_t e = (c * {}u + me) * {}u;", cut_.threads, cut_.v);
    const std::string neighbours = each ? fmt::format("for (int v = 0; v < {}; ++v) ", cut_.v) : "";
    const std::string guard = outside_row.empty() || cut_.whole ? "" : fmt::format("if (e < {}u) ", work_.shape.back());
    body_.line("  {}{{ {}{} }}", guard, neighbours, inside);
    if (!guard.empty() && outside_row != " ") body_.line("  else {{ {} }}", outside_row);
    body_.line("}}");
  }

  void load(size_t i) {
    const std::string type = body_.operand_type(i),
                      base = fmt::format("in_memory<const {}>(a.operand[{}]) + o{}", type, i, i);
    if (work_.rows[i]) return body_.line("const float r{} = to_float(*({}));", i, base);
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
    const auto& instruction = std::get<PointwiseInstruction>(work_.program.instructions[i]);
    if (work_.rows[reg]) return body_.line("const float r{} = {};", reg, body_.value_of(instruction, ""));
    declare(reg);
    loop(fmt::format("r{}[c][v] = {};", reg, body_.value_of(instruction, "[c][v]")), true);
  }

  // Joins what a thread has, then the lanes of each warp, then the warps, always in one order.
  void reduce(size_t reg, const RowReduction& reduction) {
    const std::string total = fmt::format("t{}", reg);
    body_.line("float {} = {};", total, neutral_text(reduction.kind));
    loop(fmt::format("{} = {};", total, join_text(reduction.kind, total, body_.place_of(reduction.of, "[c][v]"))), true,
         " ");
    body_.line("for (int mask = 1; mask < {}; mask *= 2) {{", std::min<int64_t>(lanes_, cut_.threads));
    body_.line("  const float other = lane_value({}, mask);", total);
    body_.line("  {0} = {1};\n  }}", total, join_text(reduction.kind, total, "other"));
    if (cut_.threads > lanes_) {
      const std::string parts = fmt::format("parts{}", reg);  // its own, so that no warp waits before it writes
      body_.line("__shared__ float {}[{}];", parts, cut_.threads / lanes_);
      body_.line("if (thread_in_block() % {0}u == 0) {1}[thread_in_block() / {0}u] = {2};", lanes_, parts, total);
      body_.line("sync_block();\n  {} = {}[0];", total, parts);
      body_.line("for (int w = 1; w < {}; ++w) {} = {};", cut_.threads / lanes_, total,
                 join_text(reduction.kind, total, parts + "[w]"));
    }
    const bool mean = reduction.kind == RowKind::mean;
    body_.line("const float r{} = {}{};", reg, total, mean ? fmt::format(" / {}.0f", work_.shape.back()) : "");
  }

  void store(size_t i) {
    const std::string_view type = element_type(work_.results[i].type.dtype);
    const auto reg = static_cast<size_t>(work_.program.results[i].index);
    if (work_.rows[reg])
      return body_.line("if (me == 0) in_memory<{0}>(a.result[{1}])[row] = from_float<{0}>(r{2});", type, i, reg);
    loop(fmt::format("Pack<{0}, {1}> q; for (int v = 0; v < {1}; ++v) q.x[v] = from_float<{0}>(r{2}[c][v]); "
                     "*(Pack<{0}, {1}>*)(in_memory<{0}>(a.result[{3}]) + int64_t{{row}} * {4} + e) = q;",
                     type, cut_.v, reg, i, work_.shape.back()),
         false, " ");
  }

  const Work& work_;
  const Loops& loops_;
  std::span<const int64_t> along_;
  const RowCut& cut_;
  const int lanes_;
  Body body_;
};

Result<GeneratedSource> by_rows(const Work& work, const GpuInfo& gpu) {
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
  out.text = entry(work, threads, RowWriter(work, loops, along, cut, gpu.lanes).run());
  return out;
}

}  // namespace

Result<GeneratedSource> generate_source(const Problem& problem, const GpuInfo& gpu) {
  RUNG_TRY(Work work, work_of(problem));
  RUNG_CHECK(check(work));
  const bool by_element =
      !work.program.reduces() && std::ranges::none_of(work.program.results, [&](const RegionResult& r) {
        return work.rows[static_cast<size_t>(r.index)] && work.shape.rank() > 0 && work.shape.back() > 1;
      });
  if (by_element) return by_elements(work, gpu);
  return by_rows(work, gpu);
}

}  // namespace rung::gpu
