// Regions at random, and what a row must give for them: instruction by instruction what the judge gives for the row's
// own values, and, where all values are small whole numbers, which add up exactly in any order, the judge's bits.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ir/region.hpp"
#include "support/random_programs.hpp"

namespace rung::test {

struct RandomRegion {
  RandomProgram operands;  // its problem is the region's
  RegionProgram program;
};

enum class RegionValues : uint8_t {
  any,    // any functions; every register is a result of f32
  whole,  // functions of whole numbers; some registers are results, of any types
};

class RegionMaker : public ProgramMaker {
 public:
  RegionMaker(Decide decide, RegionValues values) : ProgramMaker(std::move(decide)), values_(values) {}

  RandomRegion make_region() {
    RandomRegion made;
    Shape shape;
    for (size_t rank = decide_(3); rank > 0; --rank) shape.push_back(pick<int64_t>({1, 2, 3, 5}));
    shape.push_back(pick<int64_t>({1, 2, 7, 8, 16, 33, 64, 100, 150}));
    RegionProgram& program = made.program;
    program.inputs = 1 + decide_(3);
    for (size_t i = 0; i < program.inputs; ++i) add_operand(made.operands, shape);
    std::vector<Type> types = operand_types(made.operands.problem);
    const Shape rows = *region_shape(types);
    const size_t most = values_ == RegionValues::any ? Region::kMostResults : 12;
    for (size_t steps = 1 + decide_(most); steps > 0; --steps)
      program.instructions.push_back(step(program.registers()));
    set_results(program, row_registers(program, types, rows));
    made.operands.problem.op = Region{print_region(program)};
    const auto first = infer_type(made.operands.problem.op, types);
    if (first) made.operands.problem.output = {first->dtype, first->shape, contiguous_strides(first->shape)};
    return made;
  }

 private:
  float number(DType type) override {
    if (values_ == RegionValues::any) return ProgramMaker::number(type);
    if (type == DType::boolean) return static_cast<float>(decide_(2));
    return static_cast<float>(decide_(4)) - (type == DType::u8 ? 0 : 1);
  }
  float literal() override {
    return values_ == RegionValues::any ? ProgramMaker::literal() : pick({0.0f, 1.0f, -1.0f, 2.0f});
  }
  PointwiseFunction function() override {
    if (values_ == RegionValues::any) return ProgramMaker::function();
    switch (decide_(8)) {
      case 0:
        return pick({UnaryKind::neg, UnaryKind::abs, UnaryKind::relu, UnaryKind::square});
      case 1:
        return Select{};
      case 2:
        return pick({BinaryKind::gt, BinaryKind::lt, BinaryKind::eq});
      default:
        return pick({BinaryKind::add, BinaryKind::sub, BinaryKind::mul, BinaryKind::max, BinaryKind::min});
    }
  }

  RegionInstruction step(size_t registers) {
    if (decide_(3) != 0) return instruction(registers);
    if (decide_(4) == 0) return RowScan{pick({ScanKind::sum, ScanKind::product}), recent(registers)};
    const RowKind kind = pick({RowKind::sum, RowKind::max, RowKind::min, RowKind::argmax, RowKind::sum, RowKind::mean});
    return RowReduction{kind == RowKind::mean && values_ == RegionValues::whole ? RowKind::product : kind,
                        recent(registers)};
  }

  // Those of elements come first.
  void set_results(RegionProgram& program, const std::vector<bool>& rows) {
    for (size_t reg = program.inputs; reg < program.registers() && program.results.size() < Region::kMostResults; ++reg)
      if (values_ == RegionValues::any || decide_(3) == 0 || reg + 1 == program.registers())
        program.results.push_back({static_cast<int>(reg), result_type(rows[reg])});
    std::stable_partition(program.results.begin(), program.results.end(),
                          [&](const RegionResult& r) { return !rows[static_cast<size_t>(r.index)]; });
  }
  DType result_type(bool row) {
    if (values_ == RegionValues::any) return DType::f32;
    const DType type = pick({DType::f32, DType::f32, DType::bf16, DType::f16, DType::boolean, DType::i64});
    return type == DType::i64 && !row ? DType::f32 : type;
  }

  const RegionValues values_;
};

inline Result<std::vector<Tensor>> run_region(const Kernel& row, const RandomProgram& made) {
  std::vector<const void*> addresses;
  for (const Tensor& tensor : made.memory) addresses.push_back(tensor.data());
  const std::vector<ResultPlace> places = results_of(made.problem);
  const auto out = cpu::aligned_bytes(places.back().end());
  static cpu::Team team(1);
  std::atomic<Fault> fault{Fault::none};
  cpu::bind(row, made.problem, addresses, out.get()).run(team, &fault);
  std::vector<Tensor> results;
  for (const ResultPlace& place : places) {
    results.emplace_back(place.type);
    std::memcpy(results.back().data(), out.get() + place.offset, place.type.bytes());
  }
  return results;
}

// Returns how a reduction of one row differs from the exact one; "": it does not, or its order may show.
inline std::string difference(RowKind kind, std::span<const float> row, float got) {
  double sum = 0, size = 0, largest = row[0], smallest = row[0];
  size_t place = 0;
  bool has_nan = false;
  for (size_t i = 0; i < row.size(); ++i) {
    has_nan = has_nan || std::isnan(row[i]);
    sum += row[i], size += std::abs(double{row[i]});
    largest = std::max(largest, double{row[i]}), smallest = std::min(smallest, double{row[i]});
    if (row[i] > row[place] || (std::isnan(row[i]) && !std::isnan(row[place]))) place = i;
  }
  const double wanted = kind == RowKind::argmax ? static_cast<double>(place)
                        : kind == RowKind::max  ? largest
                        : kind == RowKind::min  ? smallest
                        : kind == RowKind::mean ? sum / static_cast<double>(row.size())
                                                : sum;
  if (kind == RowKind::product) return "";
  if (kind != RowKind::argmax && has_nan)
    return std::isnan(got) ? "" : fmt::format("{} of NaN: got {}", name_of(kind), got);
  const bool adds = kind == RowKind::sum || kind == RowKind::mean;
  if (adds && size > 1e38) return "";
  const double allowed = adds ? static_cast<double>(row.size()) * 0x1p-23 * size + 0x1p-126 : 0;
  if (got == wanted || std::abs(got - wanted) <= allowed) return "";
  return fmt::format("{}: got {}, wanted {}", name_of(kind), got, wanted);
}

// Returns how the row's results differ from what each instruction wants of the results before it.
inline std::string difference_of_steps(const Kernel& row, const RandomRegion& made) {
  const auto results = run_region(row, made.operands);
  if (!results) return results.error().message;
  const Shape shape = *region_shape(operand_types(made.operands.problem));
  const auto width = static_cast<size_t>(shape.back());
  std::vector<Tensor> registers;
  for (const Tensor& operand : made.operands.dense)
    registers.push_back(convert(reference::broadcast_to(operand, shape), DType::f32));
  for (size_t i = 0; i < made.program.instructions.size(); ++i) {
    const RegionResult result{static_cast<int>(made.program.inputs + i), DType::f32};
    const auto at = std::ranges::find(made.program.results, result) - made.program.results.begin();
    const Tensor got = reference::broadcast_to((*results)[static_cast<size_t>(at)], shape);
    if (const auto* element = std::get_if<PointwiseInstruction>(&made.program.instructions[i])) {
      const std::string text = difference(*element, one_step(*element, registers), got);
      if (!text.empty()) return text;
    } else if (const auto* scan = std::get_if<RowScan>(&made.program.instructions[i])) {
      const auto of = registers[static_cast<size_t>(std::get<Register>(scan->of).index)].as<float>();
      for (size_t first = 0; first < of.size() && scan->kind == ScanKind::sum; first += width)
        for (size_t last = first; last < first + width; ++last) {
          const std::string text = difference(RowKind::sum, of.subspan(first, last - first + 1), got.as<float>()[last]);
          if (!text.empty()) return text;
        }
    } else {
      const auto& reduction = std::get<RowReduction>(made.program.instructions[i]);
      const auto of = registers[static_cast<size_t>(std::get<Register>(reduction.of).index)].as<float>();
      for (size_t first = 0; first < of.size(); first += width) {
        const std::string text = difference(reduction.kind, of.subspan(first, width), got.as<float>()[first]);
        if (!text.empty()) return text;
      }
    }
    registers.push_back(got);
  }
  return "";
}

// Returns how the row's results differ from the judge's bits, unless a value is so large that sums round.
inline std::string difference_of_results(const Kernel& row, const RandomRegion& made) {
  const Problem& problem = made.operands.problem;
  RegionProgram every = made.program;
  std::vector<Type> types;
  for (size_t i = 0; i < results_of(problem).size(); ++i) types.push_back(results_of(problem)[i].type);
  for (size_t reg = 0; reg < every.registers(); ++reg) {
    every.results = {{static_cast<int>(reg), DType::f32}};
    const Region op{print_region(every)};
    const auto type = infer_type(op, operand_types(problem));
    const auto values = evaluate_results(op, made.operands.dense, *type);
    for (float value : (*values)[0].as<float>())
      if (!(std::abs(value) < 0x1p22f)) return "";
  }
  const auto got = run_region(row, made.operands);
  const auto wanted = evaluate_results(problem.op, made.operands.dense, types[0]);
  if (!got || !wanted) return (got ? wanted.error() : got.error()).message;
  for (size_t i = 0; i < types.size(); ++i) {
    const Tensor a = convert((*got)[i], DType::f32), b = convert((*wanted)[i], DType::f32);
    for (size_t j = 0; j < a.as<float>().size(); ++j)
      if (a.as<float>()[j] != b.as<float>()[j])
        return fmt::format("result {}, element {}: got {}, wanted {}", i, j, a.as<float>()[j], b.as<float>()[j]);
  }
  return "";
}

inline std::string difference(const Kernel& row, const RandomRegion& made, RegionValues values) {
  return values == RegionValues::any ? difference_of_steps(row, made) : difference_of_results(row, made);
}

}  // namespace rung::test
