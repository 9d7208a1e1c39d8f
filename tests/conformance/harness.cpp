// Builds cases from text, runs rows between guard bytes, compares with a tolerance that follows from the precision.
// SPDX-License-Identifier: Apache-2.0
#include "harness.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>

#include "base/hash.hpp"
#include "base/random.hpp"
#include "ir/text.hpp"
#include "problems.hpp"
#include "reference/evaluate.hpp"
#include "support/held_workers.hpp"
#include "support/problem_in.hpp"
#include "values.hpp"

namespace rung::test {
namespace {

constexpr size_t kGuard = 64;
constexpr std::byte kGuardByte{0xa5}, kGarbage{0xcb};

// Bytes with a guard on either side.
struct Guarded {
  explicit Guarded(size_t size) : bytes(size), memory(cpu::aligned_bytes(size + 2 * kGuard)) {
    std::memset(memory.get(), static_cast<int>(kGuardByte), size + 2 * kGuard);
    std::memset(data(), static_cast<int>(kGarbage), size);
  }
  std::byte* data() const { return memory.get() + kGuard; }
  bool intact() const {
    for (size_t i = 0; i < kGuard; ++i)
      if (memory.get()[i] != kGuardByte || data()[bytes + i] != kGuardByte) return false;
    return true;
  }
  size_t bytes;
  std::shared_ptr<std::byte> memory;
};

// Unit roundoff of one store in each type; f32 also carries the error of f32 arithmetic, which grows with a sum's
// length.
double tolerance(DType dtype, DType narrowest) {
  double store = dtype == DType::bf16  ? 0x1p-8
                 : dtype == DType::f16 ? 0x1p-11
                 : is_f8(dtype)        ? 0x1p-4
                 : dtype == DType::i8  ? 0x1p-5
                                       : 0;
  // Kernels may hold intermediate values of 16-bit attention (the weights) in the operands' type. Hopper's matrix units
  // keep about 14 bits of sums of 8-bit products, of 512 terms where results are f32.
  double inner = narrowest == DType::bf16 ? 0x1p-8 : narrowest == DType::f16 ? 0x1p-11 : is_f8(narrowest) ? 0x1p-10 : 0;
  return 2e-6 + store + inner;
}

constexpr const char* kPart = "RUNG_TEST_PART";

// Every `of`-th of each op's problems from the `index`-th on, counted from 1: every part has some of the common ops.
struct Part {
  size_t index = 1, of = 1;
};

Part wanted_part() {
  Part part;
  const char* text = std::getenv(kPart);
  if (text && (std::sscanf(text, "%zu/%zu", &part.index, &part.of) != 2 || part.index < 1 || part.index > part.of)) {
    ADD_FAILURE() << kPart << ": got " << text << ", wanted such as 2/8";
    return {};
  }
  return part;
}

// Returns the op's word in "result = matmul(a:f32[2,3], ...)".
std::string op_in(const std::string& text) {
  const size_t begin = text.find("= ") + 2;
  return text.substr(begin, text.find('(', begin) - begin);
}

Result<Case> answered_copy(const Case& asked) {
  Case test = with_inputs(asked);
  RUNG_TRY(test.expected, evaluate(test.graph, test.inputs));
  return test;
}

Case failed(const std::string& text, const Error& error) {
  ADD_FAILURE() << text << "\n" << error.message;
  return {text, {}, kNoNode, {}, {}, {}};
}

}  // namespace

Result<Case> parse_case(const std::string& text) {
  Case test{text, {}, kNoNode, {}, {}, {}};
  RUNG_TRY(test.graph, parse_graph(text));
  test.node = test.graph.outputs()[0].node;
  const auto types =
      result_types(test.graph[test.node].op, test.graph.operand_types(test.node), test.graph.type(test.node));
  for (size_t i = 1; i < types.size(); ++i)
    test.graph.set_output(fmt::format("result{}", i), test.graph.add(NthResult{static_cast<int64_t>(i)}, {test.node}));
  test.problem = problem_in(test.graph, test.node);
  return test;
}

Case make_case(const std::string& text) {
  auto test = parse_case(text).and_then(answered_copy);
  return test ? std::move(*test) : failed(text, test.error());
}

const std::vector<Case>& unanswered_cases() {
  static const std::vector<Case> all = [] {
    std::vector<Case> made;
    auto texts = problems();
    Part part = wanted_part();
    std::map<std::string, size_t, std::less<>> seen;  // problems of each op
    for (const std::string& text : texts) {
      if (seen[op_in(text)]++ % part.of != part.index - 1) continue;
      auto test = parse_case(text);
      made.push_back(test ? std::move(*test) : failed(text, test.error()));
    }
    return made;
  }();
  return all;
}

const std::vector<Case>& unanswered_cases_of(std::string_view op) {
  static std::map<std::string, std::vector<Case>, std::less<>> made;
  const auto known = made.find(op);
  if (known != made.end()) return known->second;
  auto& all = made[std::string(op)];
  std::ranges::copy_if(unanswered_cases(), std::back_inserter(all),
                       [&](const Case& test) { return op_family(test.problem.op) == op; });
  return all;
}

Case with_inputs(Case test) {
  for (NodeId id : test.graph.inputs()) {
    const std::string& name = test.graph.as<Input>(id)->name;
    test.inputs[name] = filled(name, test.graph.type(id));
  }
  return test;
}

const Result<Case>& answered(const Case& asked) {
  static std::map<const Case*, Result<Case>> made;
  const auto known = made.find(&asked);
  return known != made.end() ? known->second : made.emplace(&asked, answered_copy(asked)).first->second;
}

bool takes_part() { return std::getenv(kPart) != nullptr; }

std::vector<Tensor> read_results(const Case& test, const std::byte* memory, const std::vector<Tensor>& updated) {
  std::vector<Tensor> results;
  for (const ResultPlace& place : results_of(test.problem)) {
    results.emplace_back(place.type);
    std::memcpy(results.back().data(), memory + place.offset, place.type.bytes());
  }
  results.insert(results.end(), updated.begin(), updated.end());
  return results;
}

size_t result_bytes(const Case& test) { return results_of(test.problem).back().end(); }

namespace {

// Of an operand that a row updates: other cases share the original's memory.
Tensor copy_of(const Tensor& tensor) {
  Tensor copy(tensor.type());
  std::memcpy(copy.data(), tensor.data(), tensor.bytes());
  return copy;
}

// The operands that the op updates, which a row wants dense.
std::vector<Tensor> updated_operands(const Problem& problem, const std::vector<const void*>& inputs) {
  std::vector<Tensor> updated;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!updates(problem.op, i)) continue;
    Tensor& tensor = updated.emplace_back(Type{problem.inputs[i].dtype, problem.inputs[i].shape});
    std::memcpy(tensor.data(), inputs[i], tensor.bytes());
  }
  return updated;
}

}  // namespace

Outcome run_row(const Kernel& kernel, const Case& test, int threads) {
  Problem problem = test.problem;
  problem.threads = threads;
  std::vector<const void*> inputs;
  std::vector<Tensor> copies;
  for (NodeId operand : test.graph[test.node].operands) {
    auto view = cpu::resolve_view(test.graph, operand);
    Tensor tensor = test.inputs.at(test.graph.as<Input>(view.base)->name);
    if (updates(problem.op, inputs.size())) copies.push_back(tensor = copy_of(tensor));
    inputs.push_back(tensor.data() + view.offset * static_cast<int64_t>(size_of(tensor.dtype())));
  }
  Guarded output(result_bytes(test)), scratch(kernel.scratch_for(problem, cpu::cpu_info()));
  cpu::Bound bound = cpu::bind(kernel, problem, inputs, output.data());
  bound.scratch = scratch.data();
  cpu::Team team(threads), of_held(threads, cpu::Pinning::none, HeldWorkers::hold);
  std::atomic<Fault> fault{Fault::none};
  bound.run(team, &fault);
  Outcome outcome{read_results(test, output.data(), updated_operands(problem, inputs))};
  const std::vector<std::byte> first(output.data(), output.data() + output.bytes);
  std::memset(scratch.data(), 0x7f, scratch.bytes);
  {
    const HeldWorkers all_by_the_caller;  // who does a part changes nothing
    bound.run(of_held, &fault);
  }
  outcome.repeatable = std::memcmp(first.data(), output.data(), output.bytes) == 0;
  outcome.cut_freely = true;
  if (kernel.split && kernel.role == Role::fast) {
    Split finer = kernel.split_for(problem, cpu::cpu_info());
    finer.parts *= 3;
    std::memset(output.data(), static_cast<int>(kGarbage), output.bytes);
    cpu::run_parts(team, finer,
                   {bound.problem, bound.inputs.data(), bound.output, bound.scratch, bound.state.get(), &fault},
                   kernel.run);
    outcome.cut_freely = std::memcmp(first.data(), output.data(), output.bytes) == 0;
  }
  outcome.in_bounds = output.intact() && scratch.intact();
  outcome.fault = fault;
  return outcome;
}

namespace {

// The squared norm of what a reduction's terms add up to without their signs: that is what the rounding of a sum is
// relative to, not the little that is left where they cancel. 0: of another op.
double norm_without_signs(const Case& test) {
  const auto* reduce = test.graph.as<Reduce>(test.node);
  if (!reduce || reduce->kind == ReduceKind::max) return 0;
  auto inputs = test.inputs;
  for (auto& [name, tensor] : inputs) {
    if (!is_float(tensor.dtype())) continue;
    const Tensor wide = convert(tensor, DType::f32);
    Tensor positive({DType::f32, tensor.shape()});  // of its own: tensors share their elements
    std::ranges::transform(wide.as<float>(), positive.as<float>().begin(), [](float value) { return std::abs(value); });
    tensor = convert(positive, tensor.dtype());
  }
  auto sums = evaluate(test.graph, inputs);
  if (!sums || !is_float(sums->at(0).dtype())) return 0;
  double norm = 0;
  const Tensor wide = convert(sums->at(0), DType::f32);
  for (float sum : wide.as<float>()) norm += double{sum} * sum;
  return norm;
}

// Compares values that were rounded to integers: sums in another order may fall on the other side of a half, which few
// do.
template <class Byte>
std::string difference_of_rounded(std::span<const Byte> got, std::span<const Byte> expected) {
  constexpr size_t kOneIn = 50;
  size_t differ = 0;
  for (size_t i = 0; i < got.size(); ++i) {
    if (std::abs(got[i] - expected[i]) > 1) return fmt::format("element {}: got {}, wanted {}", i, got[i], expected[i]);
    differ += got[i] != expected[i];
  }
  return differ <= 1 + got.size() / kOneIn ? "" : fmt::format("{} of {} integers differ", differ, got.size());
}

std::string difference(const Tensor& got, const Tensor& expected, const Case& test) {
  DType out = expected.dtype(), narrowest = DType::f32;
  const std::string_view family = op_family(test.problem.op);
  const bool rounds_sums = out == DType::i8 && (family == "linear" || family.ends_with("_norm") || family == "conv");
  if (rounds_sums) return difference_of_rounded(got.as<int8_t>(), expected.as<int8_t>());
  if (out == DType::u8 && family == "conv") return difference_of_rounded(got.as<uint8_t>(), expected.as<uint8_t>());
  // Attention rounds weights in between, too: more of its integers are the next ones.
  if ((!is_float(out) && !(out == DType::i8 && family == "attention")) || family == "cast")
    return std::memcmp(got.data(), expected.data(), got.bytes()) == 0 ? "" : "not equal, where equality is due";
  for (const auto& operand : test.problem.inputs)
    if (operand.dtype == DType::bf16 ||
        (narrowest != DType::bf16 && is_float(operand.dtype) && size_of(operand.dtype) < size_of(narrowest)))
      narrowest = operand.dtype;
  Tensor a = convert(got, DType::f32), b = convert(expected, DType::f32);
  double error = 0, norm = 0;
  for (size_t i = 0; i < a.as<float>().size(); ++i) {
    double x = a.as<float>()[i], y = b.as<float>()[i];
    if ((std::isnan(x) && std::isnan(y)) || (std::isinf(x) && x == y)) continue;
    if (!std::isfinite(x) || !std::isfinite(y)) return fmt::format("element {}: got {}, wanted {}", i, x, y);
    error += (x - y) * (x - y), norm += y * y;
  }
  norm = std::max(norm, norm_without_signs(test));
  double relative = std::sqrt(error / std::max(norm, 1e-30));
  const double allowed = family == "quantize" ? 0 : tolerance(out, narrowest);
  return relative <= allowed ? "" : fmt::format("relative L2 error {:.3g}, allowed {:.3g}", relative, allowed);
}

}  // namespace

std::string difference(const std::vector<Tensor>& got, const Case& test) {
  for (size_t i = 0; i < test.expected.size(); ++i)
    if (auto text = difference(got[i], test.expected[i], test); !text.empty())
      return i == 0 ? text : fmt::format("result {}: {}", i, text);
  return "";
}

}  // namespace rung::test
