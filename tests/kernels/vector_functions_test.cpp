// Every function that generated code computes is as near to the judge's as docs/vector_functions.md says, with both
// instruction sets, over all magnitudes of f32.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <fstream>
#include <limits>
#include <map>
#include <regex>

#include "base/random.hpp"
#include "ir/formulas.hpp"
#include "ir/functions.hpp"
#include "kernels/cpu/bind.hpp"
#include "kernels/target.hpp"
#include "reference/evaluate.hpp"
#include "support/problems.hpp"

namespace rung {
namespace {

using Floats = std::vector<float>;

constexpr float kSpecials[] = {0.0f,
                               -0.0f,
                               1.0f,
                               -1.0f,
                               0.5f,
                               -0.5f,
                               2.0f,
                               3.0f,
                               -3.0f,
                               0x1p-149f,
                               -0x1p-149f,
                               0x1p-126f,
                               0x1.fffffep127f,
                               -0x1.fffffep127f,
                               0x1.921fb6p0f,
                               0x1.921fb6p1f,
                               std::numeric_limits<float>::infinity(),
                               -std::numeric_limits<float>::infinity(),
                               std::numeric_limits<float>::quiet_NaN()};

// Every 997th bit pattern, of both signs, and numbers of moderate size, of which functions are mostly asked.
const Floats& sweep() {
  static const Floats all = [] {
    Floats made(std::begin(kSpecials), std::end(kSpecials));
    for (uint64_t bits = 0; bits < uint64_t{1} << 32; bits += 997)
      made.push_back(std::bit_cast<float>(static_cast<uint32_t>(bits)));
    for (uint64_t i = 0; i < 400000; ++i) made.push_back(4 * static_cast<float>(random_normal(7, i)));
    return made;
  }();
  return all;
}

struct Pairs {
  Floats x, y;
};
// All pairs of special numbers, bit patterns at random, and numbers of moderate size.
const Pairs& pairs() {
  static const Pairs all = [] {
    Pairs made;
    const auto add = [&](float x, float y) { made.x.push_back(x), made.y.push_back(y); };
    for (float x : kSpecials)
      for (float y : kSpecials) add(x, y);
    const auto bits = [](uint64_t seed, uint64_t i) {
      return std::bit_cast<float>(static_cast<uint32_t>(random_uniform(seed, i) * 0x1p32));
    };
    for (uint64_t i = 0; i < 500000; ++i) {
      add(bits(1, i), bits(2, i));
      add(static_cast<float>(std::exp(4 * random_normal(3, i))), static_cast<float>(20 * random_normal(4, i)));
      add(static_cast<float>(5 * random_normal(5, i)), static_cast<float>(std::floor(4 * random_normal(6, i))));
    }
    return made;
  }();
  return all;
}

// What the page promises of a function: the largest distance in units in the last place from the float nearest to the
// exact value, where the place is that of the larger one of the value and `beside`.
struct Promise {
  int64_t ulps = 0;
  double beside = 0, beside_x = 0;
};

std::map<std::string, Promise> promises() {
  std::ifstream page(RUNG_SOURCE "/docs/vector_functions.md");
  const std::map<std::string, Promise> beside{
      {"", {}}, {"x / 4", {0, 0, 0.25}}, {"x 2^-102", {0, 0, 0x1p-102}}, {"2^-102", {0, 0x1p-102, 0}}};
  const std::regex row(R"(\| `([a-z0-9_]+)` \| (\d+) \| ([^|]*?) ?\|.*)");
  std::map<std::string, Promise> all;
  for (std::string line; std::getline(page, line);)
    if (std::smatch match; std::regex_match(line, match, row)) {
      Promise promise = beside.at(match[3]);
      promise.ulps = std::stoll(match[2]);
      all[match[1]] = promise;
    }
  return all;
}

// Bit patterns in the order of their numbers.
int64_t ordered(float x) {
  const auto bits = std::bit_cast<int32_t>(x);
  return bits < 0 ? -(int64_t{bits} & 0x7fffffff) : bits;
}

double distance(float got, float wanted, double beside) {
  if (std::isnan(wanted) || std::isnan(got)) return std::isnan(wanted) == std::isnan(got) ? 0 : INFINITY;
  const double between = std::abs(static_cast<double>(ordered(got) - ordered(wanted)));
  if (std::abs(wanted) >= beside || !std::isfinite(got)) return between;
  const auto place = static_cast<float>(beside);
  return std::abs(static_cast<double>(got) - wanted) / (std::nextafter(place, INFINITY) - place);
}

Tensor tensor_of(const Floats& values) {
  Tensor tensor({DType::f32, {static_cast<int64_t>(values.size())}});
  std::copy(values.begin(), values.end(), tensor.as<float>().begin());
  return tensor;
}

Tensor run(const Kernel& row, const Op& op, const std::vector<Tensor>& operands, const Type& result) {
  Problem problem{.op = op, .inputs = {}, .output = dense(result.dtype, result.shape)};
  std::vector<const void*> addresses;
  for (const Tensor& operand : operands) {
    problem.inputs.push_back(dense(operand.dtype(), operand.shape()));
    addresses.push_back(operand.data());
  }
  EXPECT_TRUE(row.supports(problem, cpu::cpu_info()));
  Tensor out(result);
  cpu::Team team(1);
  std::atomic<Fault> fault{Fault::none};
  cpu::bind(row, problem, addresses, out.data()).run(team, &fault);
  EXPECT_EQ(fault, Fault::none);
  return out;
}

class VectorFunction : public ::testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(All, VectorFunction, ::testing::ValuesIn([] {
                           std::vector<std::string> names;
                           for (const UnaryFacts& facts : unary_functions())
                             if (facts.takes != Takes::booleans) names.emplace_back(facts.word);
                           for (int i = 0; i <= static_cast<int>(FormulaKind::f8e8m0_nearest); ++i)
                             if (const auto& facts = facts_of(static_cast<FormulaKind>(i));
                                 facts.takes != FormulaTakes::integers)
                               names.emplace_back(facts.word);
                           names.emplace_back("pow");
                           return names;
                         }()),
                         [](const auto& name) { return name.param; });

Op op_of(const std::string& name) {
  if (const auto formula = formula_named(name)) return Formula{*formula};
  return *op_named(name);
}
bool takes_two(const Op& op) {
  const auto* formula = as<Formula>(op);
  return formula ? facts_of(formula->kind).operands == 2 : as<Binary>(op) != nullptr;
}

TEST_P(VectorFunction, IsAsNearAsThePageSays) {
  const auto page = promises();
  ASSERT_TRUE(page.contains(GetParam())) << "docs/vector_functions.md has no row";
  const Promise promise = page.at(GetParam());
  const Op op = op_of(GetParam());
  const Floats& x = takes_two(op) ? pairs().x : sweep();
  std::vector<Tensor> operands{tensor_of(x)};
  if (takes_two(op)) operands.push_back(tensor_of(pairs().y));
  const Type type{DType::f32, operands[0].shape()};
  const auto wanted = evaluate_results(op, operands, type);
  ASSERT_TRUE(wanted);
  int rows = 0;
  for (const char* set : {"_generated_avx512", "_generated_avx2"}) {
    const Kernel* row = cpu_target().kernel_named(std::string(op_family(op)) + set);
    if (!row->supports({.op = op,
                        .inputs = std::vector<Operand>(operands.size(), dense(DType::f32, {4})),
                        .output = dense(DType::f32, {4})},
                       cpu::cpu_info()))
      continue;
    ++rows;
    const Tensor got = run(*row, op, operands, type);
    double worst = 0;
    size_t where = 0;
    for (size_t i = 0; i < x.size(); ++i) {
      if (promise.beside_x > 0 && std::isinf(x[i])) continue;
      const double beside = std::max(promise.beside, promise.beside_x * std::abs(double{x[i]}));
      const double far = distance(got.as<float>()[i], (*wanted)[0].as<float>()[i], beside);
      if (!(far <= worst)) worst = far, where = i;
    }
    EXPECT_LE(worst, static_cast<double>(promise.ulps))
        << row->name << " of " << x[where] << (takes_two(op) ? fmt::format(", {}", pairs().y[where]) : "") << ": got "
        << got.as<float>()[where] << ", wanted " << (*wanted)[0].as<float>()[where];
  }
  if (rows == 0) GTEST_SKIP() << "this processor has neither instruction set";
}

}  // namespace
}  // namespace rung
