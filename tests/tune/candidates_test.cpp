// The enumeration of candidates.
// SPDX-License-Identifier: Apache-2.0
#include "tune/candidates.hpp"

#include <array>
#include <numeric>

#include "support.hpp"

namespace rung {
namespace {

using ::testing::HasSubstr;

TEST(Candidates, PutTheLibrarysDefaultFirst) {
  Candidates candidates = candidates_for(cpu_target(), linear_problem(4, 64, 256));
  ASSERT_GT(candidates.list.size(), 1u);
  EXPECT_EQ(candidates.list[0].kernel->name, "linear_onednn");
  EXPECT_TRUE(candidates.list[0].params.empty());
}

TEST(Candidates, PutVariantsOfOneParameterAfterDefaults) {
  auto list = candidates_for(cpu_target(), linear_problem(4, 64, 256)).list;
  bool variants = false;
  for (const auto& candidate : list) {
    variants = variants || !candidate.params.empty();
    EXPECT_EQ(candidate.params.size(), variants ? 1u : 0u) << candidate.kernel->name;
  }
  EXPECT_TRUE(variants);
}

TEST(Candidates, LeaveTheReferenceOutWhileAnotherRowCan) {
  for (const auto& candidate : candidates_for(cpu_target(), linear_problem(4, 64, 64)).list)
    EXPECT_NE(candidate.kernel->name, "linear_fallback");
}

TEST(Candidates, HoldEveryFastRowOfTheTable) {
  Problem problem{.op = Softmax{.axis = 1}, .inputs = {dense(DType::f32, {4, 8})}, .output = dense(DType::f32, {4, 8})};
  Kernel first = *cpu_target().kernel_named("softmax_fallback"), last = first;
  first.name = "first", last.name = "last", first.role = last.role = Role::fast;
  const std::array<const Kernel*, 2> rows{&first, &last};
  Target target = cpu_target();
  target.kernels = rows;
  EXPECT_EQ(candidates_for(target, problem).list.size(), 2u);
}

// A library offers hundreds of algorithms that it does not rank.
Kernel with_many_values() {
  Kernel kernel = *cpu_target().kernel_named("softmax_fallback");
  kernel.role = Role::fast;
  kernel.tunables = [](const Problem&, const Machine&) -> std::vector<Tunable> {
    std::vector<int64_t> numbers(20);
    std::iota(numbers.begin(), numbers.end(), 100);
    return {{"algorithm", numbers, 4}};
  };
  return kernel;
}

TEST(Candidates, AreTheValuesThatAreWorthTrying) {
  const Problem problem{
      .op = Softmax{.axis = 1}, .inputs = {dense(DType::f32, {4, 8})}, .output = dense(DType::f32, {4, 8})};
  const Kernel kernel = with_many_values();
  const std::array<const Kernel*, 1> rows{&kernel};
  Target target = cpu_target();
  target.kernels = rows;
  const auto list = candidates_for(target, problem).list;
  ASSERT_EQ(list.size(), 4u) << "the default, and three values";
  EXPECT_EQ(list[3].params, (Params{{"algorithm", 103}}));
  EXPECT_TRUE(takes_params(target, kernel, problem, {{"algorithm", 119}})) << "the others are values, too";
  EXPECT_THAT(takes_params(target, kernel, problem, {{"algorithm", 120}}).reason,
              ::testing::EndsWith("got algorithm=120, wanted one of 100, 101, 102, 103, 104, 105, 106, 107, 108, 109, "
                                  "110, 111, 112, 113, 114, 115 and 4 more"));
}

TEST(Candidates, FallBackOnTheReferenceAlone) {
  Problem problem{.op = CumSum{}, .inputs = {dense(DType::f32, {8})}, .output = dense(DType::f32, {8})};
  auto list = candidates_for(cpu_target(), problem).list;
  ASSERT_EQ(list.size(), 1u);
  EXPECT_EQ(list[0].kernel->name, "cumsum_fallback");
}

TEST(Candidates, SayWhyARowCannot) {
  Problem problem = linear_problem(4, 64, 64);
  problem.inputs[1].constant = false;
  std::string reasons;
  for (const auto& refused : candidates_for(cpu_target(), problem).refused) reasons += refused.reason + "; ";
  EXPECT_THAT(reasons, HasSubstr("w is not constant"));
}

TEST(CandidateParameters, MustBeOnesThatTheKernelOffers) {
  Problem problem = linear_problem(4, 64, 256);
  const auto& kernel = *cpu_target().kernel_named("linear_avx2");
  EXPECT_TRUE(takes_params(cpu_target(), kernel, problem, {}));
  EXPECT_TRUE(takes_params(cpu_target(), kernel, problem, {{"columns", 16}}));
  EXPECT_THAT(takes_params(cpu_target(), kernel, problem, {{"columns", 17}}).reason, HasSubstr("columns=17"));
  EXPECT_THAT(takes_params(cpu_target(), kernel, problem, {{"warp", 1}}).reason, HasSubstr("warp"));
}

}  // namespace
}  // namespace rung
