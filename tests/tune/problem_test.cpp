// Problem keys and the enumeration of candidates.
// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <set>

#include "support.hpp"
#include "tune/candidates.hpp"

namespace rung {
namespace {

using testing::HasSubstr;

TEST(ProblemKey, NamesALinearByItsSizesTypesAndEpilogue) {
  Problem problem = linear_problem(4, 8, 16);
  EXPECT_EQ(problem_key(problem), "linear m=4 n=8 k=16 x=f32 w=f32 out=f32 threads=1");
  problem.op =
      Linear{.slots = {LinearSlot::bias, LinearSlot::residual}, .activation = Activation::gelu, .out = DType::bf16};
  problem.inputs.push_back(dense(DType::f32, {8}, true));
  problem.inputs.push_back(dense(DType::f32, {4, 8}));
  problem.threads = 2;
  EXPECT_EQ(problem_key(problem), "linear m=4 n=8 k=16 x=f32 w=f32 out=bf16 bias act=gelu residual=f32 threads=2");
}

TEST(ProblemKey, NamesTheHeadsThatALinearTurns) {
  Problem problem = linear_problem(4, 8, 16);
  problem.op = Linear{.slots = {LinearSlot::cos, LinearSlot::sin}, .rotated_heads = 1};
  for (int i = 0; i < 2; ++i) problem.inputs.push_back(dense(DType::bf16, {4, 8}));
  EXPECT_EQ(problem_key(problem), "linear m=4 n=8 k=16 x=f32 w=f32 out=f32 rotated=1x8 angles=bf16 threads=1");
}

TEST(ProblemKey, NamesWhatALinearTakesOfANorm) {
  Problem problem = linear_problem(4, 32, 64);
  problem.op = Linear{.slots = {LinearSlot::residual, LinearSlot::norm_weight, LinearSlot::squares}};
  problem.inputs.push_back(dense(DType::f32, {4, 32}));
  problem.inputs.push_back(dense(DType::f32, {32}, true));
  problem.inputs.push_back(dense(DType::f32, {4, 2}));
  EXPECT_EQ(problem_key(problem),
            "linear m=4 n=32 k=64 x=f32 w=f32 out=f32 residual=f32 feeds_norm=f32 normed=f32 threads=1");
}

TEST(ProblemKey, TellsStridedAndDynamicOperandsApart) {
  Problem problem = linear_problem(4, 8, 16);
  problem.inputs[0].strides = {48, 1};
  problem.inputs[1].constant = false;
  EXPECT_EQ(problem_key(problem), "linear m=4 n=8 k=16 x=f32 w=f32 out=f32 ldx=48 w=dynamic threads=1");
  problem.inputs[0].strides = {1, 4};
  EXPECT_THAT(problem_key(problem), HasSubstr(" x=f32[4,16]{1,4} "));
}

// Whatever of a problem a row may read to choose shows in its name.
TEST(ProblemKey, TellsEveryPropertyOfEveryOperandOfALinearApart) {
  Problem problem = linear_problem(4, 32, 64);
  problem.op = Linear{.slots = {LinearSlot::bias, LinearSlot::residual, LinearSlot::cos, LinearSlot::sin,
                                LinearSlot::norm_weight, LinearSlot::squares},
                      .rotated_heads = 1,
                      .out = DType::f32};
  for (const Operand& operand : {dense(DType::f32, {32}, true), dense(DType::f32, {4, 32}), dense(DType::f32, {4, 32}),
                                 dense(DType::f32, {4, 32}), dense(DType::f32, {32}, true), dense(DType::f32, {4, 2})})
    problem.inputs.push_back(operand);
  std::set<std::string> keys{problem_key(problem)};
  size_t problems = 1;
  const auto add = [&](size_t i, auto&& change) {
    Problem other = problem;
    change(other.inputs[i]);
    const std::string key = problem_key(other);
    EXPECT_TRUE(keys.insert(key).second) << "operand " << i << ": " << key;
    ++problems;
  };
  for (size_t i = 0; i < problem.inputs.size(); ++i) {
    add(i, [](Operand& x) { x.dtype = DType::bf16; });
    add(i, [](Operand& x) { x.constant = !x.constant; });
    add(i, [](Operand& x) { x.strides[x.shape.rank() - 1] = 2; });
    if (problem.inputs[i].shape.rank() < 2) continue;
    add(i, [](Operand& x) { x.strides[0] = 96; });
    add(i, [](Operand& x) { x.strides[0] = 0; });
    add(i, [](Operand& x) { x.strides = {1, x.shape[0]}; });
  }
  EXPECT_EQ(keys.size(), problems);
}

TEST(ProblemKey, NamesOtherOpsByTheirOperandsAndFields) {
  Problem problem{.op = Softmax{.axis = 0}, .inputs = {dense(DType::f32, {2, 3})}, .output = {}};
  problem.inputs[0].strides = {6, 1};
  EXPECT_EQ(problem_key(problem), "softmax f32[2,3]{6,1} axis=0 threads=1");
  problem.inputs[0] = dense(DType::f32, {2, 3}, true);
  EXPECT_EQ(problem_key(problem), "softmax f32[2,3]* axis=0 threads=1");
}

TEST(ProblemKey, IgnoresParameters) {
  Problem problem = linear_problem(4, 8, 16);
  std::string key = problem_key(problem);
  problem.params["k_block"] = 192;
  EXPECT_EQ(problem_key(problem), key);
}

TEST(Candidates, PutTheLibrarysDefaultFirst) {
  Candidates candidates = candidates_for(cpu_target(), linear_problem(4, 64, 256));
  ASSERT_GT(candidates.list.size(), 1u);
  EXPECT_EQ(candidates.list[0].kernel->name, "linear_onednn");
  EXPECT_TRUE(candidates.list[0].params.empty());
}

TEST(Candidates, PutVariantsAfterAllDefaultsAndChangeOneParameterEach) {
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

TEST(Candidates, HoldEveryFastRowWhereverItStandsInTheTable) {
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
    Tunable algorithm{"algorithm", {}, 4};
    for (int64_t i = 0; i < 20; ++i) algorithm.values.push_back(100 + i);
    return {algorithm};
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
              testing::EndsWith("got algorithm=120, wanted one of 100, 101, 102, 103, 104, 105, 106, 107, 108, 109, "
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
