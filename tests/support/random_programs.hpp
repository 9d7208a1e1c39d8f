// Element-wise programs at random, and what a row must give for them: step by step what the judge gives, and for the
// whole program the very bits that its steps give one by one.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <string>

#include "ir/formulas.hpp"
#include "ir/functions.hpp"
#include "ir/pointwise.hpp"
#include "kernels/cpu/bind.hpp"
#include "reference/evaluate.hpp"
#include "reference/values.hpp"

namespace rung::test {

// Returns a number below the one given; all decisions come from it, so that a fuzzer may make them.
using Decide = std::function<size_t(size_t below)>;

struct RandomProgram {
  PointwiseProgram program;
  Problem problem;
  std::vector<Tensor> memory;  // of each operand
  std::vector<Tensor> dense;   // what the strides read
};

class ProgramMaker {
 public:
  explicit ProgramMaker(Decide decide) : decide_(std::move(decide)) {}
  virtual ~ProgramMaker() = default;

  RandomProgram make() {
    RandomProgram made;
    Shape shape;
    for (size_t rank = 1 + decide_(4); rank > 0; --rank) shape.push_back(pick<int64_t>({1, 2, 3, 5, 8, 17, 33}));
    const size_t inputs = 1 + decide_(6);
    for (size_t i = 0; i < inputs; ++i) add_operand(made, shape);
    made.program.inputs = inputs;
    for (size_t steps = 1 + decide_(8); steps > 0; --steps)
      made.program.instructions.push_back(instruction(made.program.registers()));
    const DType out = pick({DType::f32, DType::f32, DType::bf16, DType::f16, DType::boolean});
    std::vector<Type> types;
    for (const Tensor& operand : made.dense) types.push_back({operand.dtype(), operand.shape()});
    made.problem.op = Pointwise{print_pointwise(made.program), out};
    made.problem.output = {out, shape, contiguous_strides(shape)};
    return made;
  }

 protected:
  template <class T>
  T pick(std::initializer_list<T> of) {
    return of.begin()[decide_(of.size())];
  }

  // The axes of the result, some of size 1, and memory in which they lie in any order and at any distance.
  void add_operand(RandomProgram& made, const Shape& shape) {
    Operand operand{
        pick({DType::f32, DType::f32, DType::bf16, DType::f16, DType::boolean, DType::i32, DType::i8, DType::u8}),
        shape, contiguous_strides(shape)};
    for (int axis = 0; axis < shape.rank(); ++axis)
      if (decide_(4) == 0) operand.shape[axis] = 1;
    operand.strides = contiguous_strides(operand.shape);
    if (decide_(4) == 0) {
      const int64_t step = 1 + static_cast<int64_t>(decide_(3));
      int64_t stride = step;
      for (int axis = 0; axis < operand.shape.rank(); ++axis) {  // the first axis innermost
        operand.strides[axis] = stride;
        stride *= operand.shape[axis];
      }
    }
    Tensor wide({DType::f32, {operand.span()}});
    for (float& value : wide.as<float>()) value = number(operand.dtype);
    made.memory.push_back(convert(wide, operand.dtype));
    made.dense.push_back(reference::copy_strided(made.memory.back(), operand.shape, operand.strides));
    made.problem.inputs.push_back(std::move(operand));
  }

  virtual float number(DType type) {
    if (type == DType::u8 || type == DType::boolean) return static_cast<float>(decide_(type == DType::u8 ? 256 : 2));
    if (!is_float(type)) return static_cast<float>(decide_(256)) - 128;
    if (decide_(16) == 0) return pick({0.0f, -0.0f, 1.0f, -1.0f, 0x1p-140f, 3e38f, HUGE_VALF, -HUGE_VALF, NAN});
    const float size = std::exp2(static_cast<float>(decide_(24)) - 12);
    return (decide_(2) ? size : -size) * (1 + static_cast<float>(decide_(1024)) / 1024);
  }

  virtual PointwiseFunction function() {
    switch (decide_(8)) {
      case 0:
      case 1:
        return static_cast<UnaryKind>(decide_(unary_functions().size()));
      case 2:
        return Select{};
      case 3:
        return Round{pick({DType::bf16, DType::f16})};
      case 4: {
        const auto kind = static_cast<FormulaKind>(decide_(static_cast<size_t>(FormulaKind::f8e8m0_nearest) + 1));
        if (facts_of(kind).takes != FormulaTakes::integers) return kind;
        return BinaryKind::add;
      }
      default:
        return static_cast<BinaryKind>(decide_(binary_functions().size()));
    }
  }

  // Of the registers that hold values already.
  PointwiseInstruction instruction(size_t registers) {
    PointwiseInstruction made{function(), {}};
    for (size_t i = 0; i < made.arity(); ++i) {
      made.operands[i] = recent(registers);
      if (decide_(8) == 0) made.operands[i] = literal();
    }
    return made;
  }
  // The last results are read most, so that most of a program leads to its result.
  Register recent(size_t registers) {
    const size_t back = std::min(decide_(4), decide_(registers));
    return Register{static_cast<int>(registers - 1 - back)};
  }
  virtual float literal() { return pick({0.0f, 0.5f, -1.0f, 2.0f, 1e-3f}); }

  Decide decide_;
};

inline Result<Tensor> run_row(const Kernel& row, const Problem& problem, const std::vector<Tensor>& memory) {
  if (auto verdict = row.supports(problem, cpu::cpu_info()); !verdict) return fail("{}", verdict.reason);
  std::vector<const void*> addresses;
  for (const Tensor& tensor : memory) addresses.push_back(tensor.data());
  Tensor out({problem.output.dtype, problem.output.shape});
  static cpu::Team team(1);
  std::atomic<Fault> fault{Fault::none};
  cpu::bind(row, problem, addresses, out.data()).run(team, &fault);
  if (fault != Fault::none) return fail("the row reports a fault");
  return out;
}

// Returns whether the values are as near as docs/vector_functions.md says at most; NaN is as good as NaN.
inline bool is_near(float got, float wanted, float beside) {
  if (std::isnan(got) || std::isnan(wanted)) return std::isnan(got) && std::isnan(wanted);
  if (got == wanted) return true;
  const float size = std::max({std::abs(wanted), beside, 0x1p-102f});
  return std::abs(double{got} - wanted) <= 10 * 0x1p-23 * size;
}

// An instruction alone, as a program of the registers that it reads.
struct OneStep {
  Pointwise op;
  std::vector<Tensor> operands;
};
inline OneStep one_step(const PointwiseInstruction& instruction, const std::vector<Tensor>& registers) {
  OneStep made{{"", DType::f32}, {}};
  PointwiseProgram step{0, {instruction}};
  for (size_t i = 0; i < instruction.arity(); ++i)
    if (const auto* reg = std::get_if<Register>(&instruction.operands[i])) {
      step.instructions[0].operands[i] = Register{static_cast<int>(step.inputs++)};
      made.operands.push_back(registers[static_cast<size_t>(reg->index)]);
    }
  if (made.operands.empty()) made.operands.push_back(registers[0]), step.inputs = 1;
  made.op.program = print_pointwise(step);
  return made;
}

// Returns how what a step gave differs from what the judge gives; "": it does not.
inline std::string difference(const PointwiseInstruction& instruction, const OneStep& step, const Tensor& got) {
  const auto wanted = evaluate_results(step.op, step.operands, got.type());
  if (!wanted) return wanted.error().message;
  const auto* unary = std::get_if<UnaryKind>(&instruction.function);
  for (size_t i = 0; i < got.as<float>().size(); ++i) {
    const float x = step.operands[0].as<float>()[i];
    const bool is_gelu = unary && (*unary == UnaryKind::gelu || *unary == UnaryKind::gelu_tanh);
    if (unary && std::isinf(x) && (is_gelu || *unary == UnaryKind::silu)) continue;  // the judge gives NaN for -inf
    const float beside = is_gelu ? std::abs(x) / 4 : unary && *unary == UnaryKind::silu ? std::abs(x) * 0x1p-102f : 0;
    if (!is_near(got.as<float>()[i], (*wanted)[0].as<float>()[i], beside))
      return fmt::format("{} of {}: got {}, wanted {}", step.op.program, x, got.as<float>()[i],
                         (*wanted)[0].as<float>()[i]);
  }
  return "";
}

// Returns how the row's result differs from what the program wants; "": it does not.
inline std::string difference(const Kernel& row, const RandomProgram& made) {
  const Shape& shape = made.problem.output.shape;
  std::vector<Tensor> registers;
  for (const Tensor& operand : made.dense)
    registers.push_back(convert(reference::broadcast_to(operand, shape), DType::f32));
  for (const PointwiseInstruction& instruction : made.program.instructions) {
    const OneStep step = one_step(instruction, registers);
    Problem problem{step.op, {}, {DType::f32, shape, contiguous_strides(shape)}};
    for (size_t i = 0; i < step.operands.size(); ++i)
      problem.inputs.push_back({DType::f32, shape, contiguous_strides(shape)});
    const auto got = run_row(row, problem, step.operands);
    if (!got) return fmt::format("{}: {}", step.op.program, got.error().message);
    if (const std::string text = difference(instruction, step, *got); !text.empty()) return text;
    registers.push_back(*got);
  }
  const auto whole = run_row(row, made.problem, made.memory);
  if (!whole) return whole.error().message;
  const Tensor wanted = convert(registers.back(), made.problem.output.dtype);
  const Tensor a = convert(*whole, DType::f32), b = convert(wanted, DType::f32);
  for (size_t i = 0; i < a.as<float>().size(); ++i) {
    const float x = a.as<float>()[i], y = b.as<float>()[i];
    if (std::memcmp(&x, &y, sizeof(x)) != 0 && !(std::isnan(x) && std::isnan(y)))
      return fmt::format("element {}: the program gives {}, its steps give {}", i, x, y);
  }
  return "";
}

}  // namespace rung::test
