// One product tuned with kernels whose times are scripted: what is chosen, and why the default is kept.
// SPDX-License-Identifier: Apache-2.0
#include "stacks/product_tuner.hpp"

#include <gmock/gmock.h>

#include "kernels/gpu/kernel.hpp"
#include "kernels/problem_key.hpp"
#include "stacks/gemm_problem.hpp"
#include "support/scripted.hpp"
#include "support/temporary_directory.hpp"

namespace rung::stacks {
namespace {

using scripted::erratic;
using scripted::right;
using ::testing::HasSubstr;

class ProductTuners : public ::testing::Test {
 protected:
  TunedProduct tuned(std::initializer_list<scripted::NamedRun> kernels, double seconds = 60) {
    rows.add("linear", kernels);
    target = rows.target();
    const Budget budget(seconds);
    ProductTuner tuner(database, {.target = target, .clock = budget, .interrupted = [this] { return interrupted; }});
    TunedProduct product{.shape = shape, .choice = {}, .solution = "", .reason = ""};
    tuner.tune(problem, product);
    return product;
  }
  scripted::Clock clock;
  scripted::Rows rows;
  Target target = cpu_target();
  TemporaryDirectory folder;
  TuningDatabase database = *TuningDatabase::open(folder / "tuning.json", "scripted");
  GemmShape shape{.m = 4, .n = 8, .k = 16, .x = ElementType::f32, .w = ElementType::f32, .out = ElementType::f32};
  Problem problem = *problem_of(shape, 1);
  bool interrupted = false;
};

TEST_F(ProductTuners, ChooseWhatIsFasterBeyondDoubt) {
  const TunedProduct product = tuned({{"plain", right<1000>}, {"fast", right<400>}, {"other", right<600>}});
  EXPECT_TRUE(product.faster);
  EXPECT_EQ(product.choice.kernel, "fast");
  EXPECT_NEAR(product.default_us, 1000, 1e-6);
  EXPECT_NEAR(product.best_us, 400, 1e-6);
  EXPECT_NEAR(product.ratio.ratio, 2.5, 1e-6);
  EXPECT_EQ(product.reason, "faster than the default");
}

TEST_F(ProductTuners, KeepADefaultThatIsTheFastest) {
  const TunedProduct product = tuned({{"plain", right<400>}, {"slow", right<1000>}});
  EXPECT_FALSE(product.faster);
  EXPECT_EQ(product.choice.kernel, "plain");
  EXPECT_NEAR(product.best_us, 1000, 1e-6) << "the best of the others";
  EXPECT_NEAR(product.ratio.ratio, 0.4, 1e-6);
  EXPECT_EQ(product.reason, "default kept: it is the fastest");
}

TEST_F(ProductTuners, KeepADefaultThatIsNotClearlySlower) {
  const TunedProduct product = tuned({{"plain", erratic<1000>}, {"other", erratic<1000>}});
  EXPECT_FALSE(product.faster);
  EXPECT_EQ(product.choice.kernel, "plain");
  EXPECT_EQ(product.reason, "default kept: no clear difference");
  EXPECT_LE(product.ratio.lo, 1);
}

TEST_F(ProductTuners, NeverChooseAWrongResult) {
  const TunedProduct product = tuned({{"plain", right<1000>}, {"wrong", scripted::wrong<1>}, {"slow", right<2000>}});
  EXPECT_FALSE(product.faster);
  EXPECT_NEAR(product.best_us, 2000, 1e-6);
}

TEST_F(ProductTuners, DoNotTuneWithoutTheDefaultsTime) {
  const TunedProduct product = tuned({{"plain", scripted::wrong_for<1000, 1>}, {"fast", right<400>}}, 0);
  EXPECT_EQ(product.reason, "not tuned: no time left");
  EXPECT_EQ(product.choice.kernel, "");
}

TEST_F(ProductTuners, KeepTheDefaultWhereTimeEndsUncompared) {
  database.put(problem_key(problem),
               {{"fast", {}}, {{{"plain", {}}, 1000, ""}, {{"fast", {}}, 400, "chosen"}}, Margin{}});
  interrupted = true;
  const TunedProduct product = tuned({{"plain", right<1000>}, {"fast", right<400>}});
  EXPECT_FALSE(product.faster);
  EXPECT_EQ(product.choice.kernel, "plain");
  EXPECT_NEAR(product.default_us, 1000, 1e-6);
  EXPECT_EQ(product.reason, "default kept: not compared with fast: no time left");
}

TEST_F(ProductTuners, CompareAgainWhatADatabaseKnows) {
  database.put(problem_key(problem),
               {{"fast", {}}, {{{"plain", {}}, 1000, ""}, {{"fast", {}}, 1, "chosen"}}, Margin{}});
  const TunedProduct product = tuned({{"plain", right<1000>}, {"fast", right<1100>}});
  EXPECT_FALSE(product.faster) << "it was faster then";
  EXPECT_EQ(product.reason, "default kept: it is the fastest");
}

TEST_F(ProductTuners, SayWhyADefaultWasNotTimed) {
  database.put(problem_key(problem),
               {{"fast", {}}, {{{"plain", {}}, 0, "crashed: Aborted"}, {{"fast", {}}, 400, "chosen"}}, Margin{}});
  const TunedProduct product = tuned({{"plain", right<1000>}, {"fast", right<400>}});
  EXPECT_EQ(product.reason, "not tuned: the default was not timed: crashed: Aborted");
  EXPECT_EQ(product.choice.kernel, "");
}

TEST_F(ProductTuners, RefuseWhatDoesNotFit) {
  GemmShape large = shape;
  large.m = large.n = 1'000'000;
  problem = *problem_of(large, 1);
  EXPECT_THAT(tuned({{"plain", right<1000>}}).reason,
              HasSubstr("not tuned: its operands take 4e+03 GB, wanted at most"));
}

TEST(Stacks, SayAlgorithmsOfTheirLibrariesAlone) {
  const Stack &tunableop = *stack_named("tunableop"), &aiter = *stack_named("aiter");
  const auto row = [](std::string_view name) { return *std::ranges::find(gpu::all_kernels(), name, &Kernel::name); };
  const Kernel *hipblaslt = row("linear_hipblaslt"), *rocblas = row("linear_rocblas");
  const Kernel* ours = row("linear_skinny_cdna");
  EXPECT_TRUE(tunableop.can_say({hipblaslt, {{"algorithm", 3}}}));
  EXPECT_TRUE(tunableop.can_say({rocblas, {{"algorithm", 3}}}));
  EXPECT_FALSE(tunableop.can_say({rocblas, {}})) << "its own choice has no number";
  EXPECT_FALSE(tunableop.can_say({ours, {{"algorithm", 3}}}));
  EXPECT_FALSE(aiter.can_say({rocblas, {{"algorithm", 3}}}));
  EXPECT_TRUE(stack_named("csv")->can_say({ours, {}}));
  EXPECT_EQ(stack_of_format("aiter_untuned"), &aiter);
  EXPECT_EQ(stack_of_format(""), nullptr);
  EXPECT_EQ(stack_named("strange"), nullptr);
}

}  // namespace
}  // namespace rung::stacks
