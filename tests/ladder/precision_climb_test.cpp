// Climbs with a stated error on a scripted processor, on which narrower products are faster by known times.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <algorithm>

#include "ladder/climb.hpp"
#include "ladder/profile.hpp"
#include "open/recipe.hpp"
#include "support.hpp"
#include "support/scripted.hpp"

namespace rung {
namespace {

using ::testing::Contains;
using ::testing::Each;
using ::testing::Ge;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

// A product takes 900 us in f32, 500 in bf16, 200 in 8 bits, or 300 if its weights alone have them.
void product(const cpu::Call& call) {
  const DType x = call.problem.inputs[0].dtype, w = call.problem.inputs[1].dtype;
  const double narrow_us = is_quantised(x) ? 200 : 300;
  scripted::answer(call, is_quantised(w) ? narrow_us : w == DType::bf16 ? 500 : 900);
}

// A head in 8 bits behind wider products takes this much longer, which neither a launch that is timed alone shows nor a
// plan with all products in 8 bits.
double trap_us = 0;
struct Run {
  int products = 0, narrow = 0;
} before_head;
void product_with_trap(const cpu::Call& call) {
  product(call);
  const bool is_narrow = is_quantised(call.problem.inputs[0].dtype), is_head = call.problem.output.shape.back() == 32;
  if (!is_head) {
    ++before_head.products, before_head.narrow += is_narrow;
    return;
  }
  if (is_narrow && before_head.narrow < before_head.products) scripted::Clock::pass_us(trap_us);
  before_head = {};
}

// A head in 8 bits takes as long as this alone, or behind other products. Products in f32 take 100 us less than by the
// default kernel, so that a climb tunes kernels.
void product_beside_others(const cpu::Call& call, double alone_us, double behind_us) {
  const bool is_head = call.problem.output.shape.back() == 32, is_narrow = is_quantised(call.problem.inputs[0].dtype);
  if (is_head && is_narrow)
    scripted::answer(call, before_head.products > 0 ? behind_us : alone_us);
  else
    scripted::answer(call, call.problem.inputs[1].dtype == DType::f32 ? 800 : 2000);
  if (is_head)
    before_head = {};
  else
    ++before_head.products;
}

// The default kernel takes 200 us alone and behind others.
void crowding_product(const cpu::Call& call) { product_beside_others(call, 180, 350); }
void roomy_product(const cpu::Call& call) { product_beside_others(call, 190, 60); }

// All products in bf16 are within it, the last one may have 8 bits besides, and no other one may.
constexpr double kLimit = 0.08;

class PrecisionClimb : public ::testing::Test {
 protected:
  PrecisionClimb() {
    subject.model.graph = subject.reference = graph_of(
        "x: f32[4,64] = input()\n"
        "u0: f32[64,64] = constant()\nd0: f32[64,64] = constant()\nu1: f32[64,64] = constant()\n"
        "d1: f32[64,64] = constant()\nh: f32[32,64] = constant()\n"
        "a0 = linear(x, u0)  # layer.0.up\ng0 = gelu(a0)  # layer.0.act\nb0 = linear(g0, d0)  # layer.0.down\n"
        "n0 = tanh(b0)  # layer.0.tanh\na1 = linear(n0, u1)  # layer.1.up\ng1 = gelu(a1)  # layer.1.act\n"
        "c1 = linear(g1, d1)  # layer.1.down\nb1 = tanh(c1)  # layer.1.tanh\n"
        "logits = linear(b1, h)  # head\nreturn logits=logits");
    subject.model.name = "scripted";
    subject.model.defaults["x"].type = {DType::f32, {4, 64}};
    know_peaks(1, {.fma_f32_gflops = 1, .gemm_f32_gflops = 1, .gemm_bf16_gflops = 2, .read_gbps = 1});
    add_rows(rows, {{"linear_scripted", product_with_trap}});
  }

  void add_rows(scripted::Rows& to, std::initializer_list<scripted::NamedRun> linears) {
    to.add("linear", linears);
    to.add("quantize", {{"quantize_scripted", scripted::right<5>}});
    for (const char* family : {"unary", "cast", "pointwise", "binary", "reduce"})
      to.add(family, {{family, scripted::right<10>}});
    target = to.target();
    target.machine.avx512_bf16 = true;
  }

  static NamedTensors inputs(const char* salt) { return {{"x", random_tensor(salt, {DType::f32, {4, 64}})}}; }

  ClimbOutcome climbed() {
    auto outcome = climb(subject, options);
    EXPECT_TRUE(outcome) << outcome.error().message;
    return outcome ? std::move(*outcome) : ClimbOutcome{};
  }
  std::string error() {
    auto outcome = climb(subject, options);
    return outcome ? "no error" : outcome.error().message;
  }

  static const WholeReport* whole_named(const PrecisionReport& report, std::string_view name) {
    const auto found = std::ranges::find(report.wholes, name, &WholeReport::name);
    return found == report.wholes.end() ? nullptr : &*found;
  }
  static const WholeReport* chosen_of(const PrecisionReport& report) {
    const auto found = std::ranges::find(report.wholes, true, &WholeReport::chosen);
    return found == report.wholes.end() ? nullptr : &*found;
  }

  // Returns the kernels of the heads in 8 bits.
  static std::vector<std::string> narrow_heads(const Recipe& recipe) {
    std::vector<std::string> kernels;
    for (const auto& [problem, choice] : recipe.choices)
      if (problem.find("n=32") != std::string::npos && problem.find("x=f8e4m3fn") != std::string::npos)
        kernels.push_back(choice.kernel);
    return kernels;
  }

  // For messages: what a search measured.
  static std::string account_of(const PrecisionReport& report) {
    std::string text;
    for (const PartReport& part : report.parts)
      for (const FormReport& form : part.forms)
        text += fmt::format("{} {}: {:.0f} us, {:.3g}\n", part.name, form.name, form.us, form.rel_l2);
    for (const WholeReport& whole : report.wholes)
      text += fmt::format("{} {:.3f} x, {:.3g}, predicted {:.0f} us, {:.3g}\n", whole.name, whole.speedup.ratio,
                          whole.rel_l2, whole.predicted_us, whole.predicted_rel_l2);
    for (const std::string& note : report.notes) text += note + "\n";
    return text;
  }

  scripted::Clock clock;
  scripted::Rows rows;
  Target target = cpu_target();
  Subject subject;
  TemporaryDirectory directory;
  ClimbOptions options{.target = &target,
                       .threads = 1,
                       .budget_s = 120,
                       .goal = {.rel_l2 = kLimit},
                       .forms = {{"f32", DType::f32, {}}, {"bf16", DType::bf16, {}}, {"f8e4m3fn", DType::f8e4m3fn, {}}},
                       .inputs = {inputs("one"), inputs("two"), inputs("three")},
                       .database_path = directory / "tuning.json"};
};

TEST_F(PrecisionClimb, ChoosesAMixtureFasterThanUniformPlans) {
  const ClimbOutcome outcome = climbed();
  const PrecisionReport& report = outcome.result.precision_search;
  const WholeReport* chosen = chosen_of(report);
  ASSERT_TRUE(chosen) << account_of(report);
  SCOPED_TRACE(account_of(report));
  EXPECT_LE(chosen->rel_l2, kLimit);
  EXPECT_TRUE(chosen->meets_goal);
  for (const char* values : {"f32", "bf16"}) {
    const WholeReport* bf16 = whole_named(report, fmt::format("all bf16, values in {}", values));
    const WholeReport* f8 = whole_named(report, fmt::format("all f8e4m3fn, values in {}", values));
    ASSERT_TRUE(bf16 && f8);
    EXPECT_GT(chosen->speedup.ratio, bf16->speedup.ratio);
    EXPECT_GT(f8->rel_l2, kLimit);
    EXPECT_FALSE(f8->meets_goal);
  }
  EXPECT_GE(std::ranges::count(report.wholes, std::string(), &WholeReport::name), 6);
  EXPECT_TRUE(outcome.result.verified);
  EXPECT_LE(outcome.result.rel_l2, kLimit);
  EXPECT_FALSE(outcome.recipe.precision.empty());
  EXPECT_TRUE(outcome.recipe.rungs.contains("precision"));
  const auto receipt = std::ranges::find(outcome.result.rungs, "precision", &Receipt::name);
  ASSERT_NE(receipt, outcome.result.rungs.end());
  EXPECT_TRUE(receipt->accepted);
  EXPECT_EQ(receipt->ratio, chosen->speedup.ratio);
}

// By the table every fast mixture has its head in 8 bits.
TEST_F(PrecisionClimb, LearnsFromWholePlansWhatNoLaunchShows) {
  trap_us = 900;
  options.goal.rel_l2 = 0.15;
  const ClimbOutcome outcome = climbed();
  trap_us = 0;
  const PrecisionReport& report = outcome.result.precision_search;
  const WholeReport *chosen = chosen_of(report), *bf16 = whole_named(report, "all bf16, values in bf16");
  ASSERT_TRUE(chosen && bf16) << account_of(report);
  SCOPED_TRACE(account_of(report));
  EXPECT_GT(chosen->speedup.ratio, 1.1 * bf16->speedup.ratio) << "a product of the second layer has 8 bits, too";
  EXPECT_EQ(report.parts[0].name, "head");
  EXPECT_EQ(report.parts[0].chosen, "bf16");
  EXPECT_NEAR(chosen->predicted_us * chosen->speedup.ratio, report.start_us, 0.03 * report.start_us);
}

TEST_F(PrecisionClimb, KeepsDefaultKernelsThatPlansAreFasterWith) {
  scripted::Rows both;
  add_rows(both, {{"linear_scripted", product_with_trap}, {"linear_crowding", crowding_product}});
  options.goal.rel_l2 = 0.15;
  const ClimbOutcome outcome = climbed();
  const PrecisionReport& report = outcome.result.precision_search;
  SCOPED_TRACE(account_of(report));
  EXPECT_THAT(report.notes, Contains(HasSubstr("linear_scripted makes the plan")));
  EXPECT_EQ(narrow_heads(outcome.recipe), std::vector<std::string>{"linear_scripted"});
}

// It is neither the fastest one alone nor the default one.
TEST_F(PrecisionClimb, KeepsNearbyKernelsThatPlansAreFasterWith) {
  scripted::Rows all;
  add_rows(
      all,
      {{"linear_scripted", product_with_trap}, {"linear_crowding", crowding_product}, {"linear_roomy", roomy_product}});
  options.goal.rel_l2 = 0.15;
  const ClimbOutcome outcome = climbed();
  SCOPED_TRACE(account_of(outcome.result.precision_search));
  EXPECT_THAT(outcome.result.precision_search.notes, Contains(HasSubstr("linear_roomy makes the plan")));
  EXPECT_EQ(narrow_heads(outcome.recipe), std::vector<std::string>{"linear_roomy"});
}

TEST_F(PrecisionClimb, TellsTimeAndErrorOfEveryPart) {
  const ClimbOutcome outcome = climbed();
  const PrecisionReport& report = outcome.result.precision_search;
  ASSERT_FALSE(report.parts.empty());
  EXPECT_EQ(report.parts.back().kind, "values");
  for (const PartReport& part : report.parts) {
    if (part.kind != "products") continue;
    ASSERT_EQ(part.forms.size(), 3u) << part.name;
    EXPECT_EQ(part.forms[0].rel_l2, 0) << part.name;
    EXPECT_GT(part.forms[0].us, part.forms[1].us) << part.name;
    EXPECT_GT(part.forms[1].us, part.forms[2].us) << part.name;
    EXPECT_GT(part.forms[2].rel_l2, part.forms[1].rel_l2) << part.name;
    EXPECT_GT(part.forms[1].rel_l2, 1e-4) << part.name;
  }
}

TEST_F(PrecisionClimb, ChoosesTheSameAgain) {
  const ClimbOutcome first = climbed();
  options.database_path = directory / "other.json";
  const ClimbOutcome second = climbed();
  EXPECT_EQ(recipe_text(first.recipe), recipe_text(second.recipe));
  ASSERT_EQ(first.frontier.size(), second.frontier.size());
  for (size_t i = 0; i < first.frontier.size(); ++i) EXPECT_EQ(first.frontier[i], second.frontier[i]) << i;
}

TEST_F(PrecisionClimb, LeavesARecipeOfEveryMeasuredPlan) {
  const ClimbOutcome outcome = climbed();
  const PrecisionReport& report = outcome.result.precision_search;
  ASSERT_EQ(outcome.frontier.size(), report.wholes.size());
  Budget budget(100);
  auto bench = Workbench::create(subject, options.inputs, {.target = &target, .database_path = ""}, budget);
  ASSERT_TRUE(bench) << bench.error().message;
  for (size_t i = 0; i < outcome.frontier.size(); ++i) {
    EXPECT_EQ(report.wholes[i].recipe, fmt::format("recipe_frontier_{}.json", i + 1));
    auto read = parse_recipe(recipe_text(outcome.frontier[i]));
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(*read, outcome.frontier[i]);
    auto again = (*bench)->attempt_unjudged(*read);
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_EQ(again->rel_l2, report.wholes[i].rel_l2) << i;
  }
}

TEST_F(PrecisionClimb, MarksWhatNoOtherPlanBeats) {
  const PrecisionReport report = climbed().result.precision_search;
  for (const WholeReport& one : report.wholes) {
    const bool is_beaten = std::ranges::any_of(report.wholes, [&](const WholeReport& other) {
      return other.speedup.ratio > one.speedup.ratio && other.rel_l2 < one.rel_l2;
    });
    EXPECT_FALSE(one.best && is_beaten) << one.recipe;
  }
  EXPECT_TRUE(std::ranges::any_of(report.wholes, &WholeReport::best));
}

TEST_F(PrecisionClimb, RefusesAnErrorThatNoPlanHas) {
  options.goal = {.rel_l2 = 1e-12};
  EXPECT_THAT(error(), HasSubstr("out of reach: relative L2 error"));
  options.goal = {.cosine = 1 - 1e-16};
  EXPECT_THAT(error(), Not(HasSubstr("relative L2")));
}

TEST_F(PrecisionClimb, KeepsTheModelsPrecisionWithoutAGoal) {
  options.goal = {};
  const ClimbOutcome outcome = climbed();
  EXPECT_FALSE(outcome.result.precision_search.searched());
  EXPECT_THAT(outcome.frontier, IsEmpty());
  EXPECT_THAT(outcome.recipe.precision, IsEmpty());
}

TEST_F(PrecisionClimb, HoldsAllLimitsTogether) {
  options.goal = {.rel_l2 = 0.5, .cosine = 0.9999};
  const PrecisionReport by_cosine = climbed().result.precision_search;
  ASSERT_TRUE(chosen_of(by_cosine));
  EXPECT_GE(chosen_of(by_cosine)->cosine, 0.9999);
}

TEST_F(PrecisionClimb, HoldsTheDivergenceOfLogits) {
  options.goal = {.kl = 1e9};
  const PrecisionReport all = climbed().result.precision_search;
  ASSERT_TRUE(chosen_of(all));
  const double limit = 0.5 * chosen_of(all)->kl;
  ASSERT_GT(limit, 0);
  options.goal = {.kl = limit};
  options.database_path = directory / "other.json";
  const PrecisionReport some = climbed().result.precision_search;
  ASSERT_TRUE(chosen_of(some));
  EXPECT_LE(chosen_of(some)->kl, limit);
  EXPECT_LT(chosen_of(some)->speedup.ratio, chosen_of(all)->speedup.ratio);
}

TEST_F(PrecisionClimb, WantsLogitsForTheirDivergence) {
  subject.model.graph = subject.reference = graph_of("x: f32[4,64] = input()\ny = exp(x)\nreturn y=y, z=x");
  options.goal = {.kl = 0.1};
  EXPECT_EQ(error(), "a limit of the divergence: got a model with the outputs y, z, wanted one of the name logits");
}

TEST_F(PrecisionClimb, CountsTheErrorOfWhatIsWatched) {
  subject.model.watched = {"layer.0.down"};
  const PrecisionReport report = climbed().result.precision_search;
  EXPECT_THAT(report.watched, ::testing::ElementsAre("layer.0.down"));
  ASSERT_TRUE(chosen_of(report));
  EXPECT_LE(chosen_of(report)->rel_l2, kLimit);
  subject.model.watched = {"layer.7.down"};
  EXPECT_THAT(error(), HasSubstr("no value of the model is labelled 'layer.7.down'"));
}

// An attention takes 900 us, 600 in bf16, and 100 if its cache has 8 bits; a product errs less than that.
void attention_over_a_cache(const cpu::Call& call) {
  const DType q = call.problem.inputs[0].dtype, k = call.problem.inputs.back().dtype;
  scripted::answer(call, is_f8(k) ? 100 : q == DType::bf16 ? 600 : 900);
}
TEST_F(PrecisionClimb, KeepsCachesIn8BitsWithinTheError) {
  subject.model.graph = subject.reference = graph_of(
      "x: f32[4,64] = input()\nk: f32[2,4,16] = input()\nv: f32[2,4,16] = input()\n"
      "at: i64[1] = constant(values=[1])\nlength: i64[1] = constant(values=[2])\nw: f32[64,64] = constant()\n"
      "h = linear(x, w)  # layer.qkv\nq = reshape(slice(h, axis=0, end=1), shape=[1,1,4,16])\n"
      "k_next = scatter(k, at, reshape(slice(h, axis=0, begin=1, end=2), shape=[1,4,16]))\n"
      "v_next = scatter(v, at, reshape(slice(h, axis=0, begin=2, end=3), shape=[1,4,16]))\n"
      "y = attention(q, length, reshape(k_next, shape=[1,2,4,16]), reshape(v_next, shape=[1,2,4,16]), slots=length, "
      "scale=0.25)  # layer.attention\n"
      "state k, next=k_next, initial=constant()\nstate v, next=v_next, initial=constant()\n"
      "return y=y, k_next=k_next, v_next=v_next");
  rows.add("attention", {{"attention_scripted", attention_over_a_cache}});
  for (const char* family : {"scatter", "slice", "reshape"}) rows.add(family, {{family, scripted::right<1>}});
  target = rows.target();
  options.forms = {
      {"f32", DType::f32, {}}, {"bf16", DType::bf16, {}}, {"f8e4m3fn cache", DType::bf16, {}, DType::f8e4m3fn}};
  const ClimbOutcome outcome = climbed();
  const PrecisionReport& report = outcome.result.precision_search;
  ASSERT_TRUE(chosen_of(report)) << account_of(report);
  EXPECT_LE(chosen_of(report)->rel_l2, kLimit);
  const auto part = std::ranges::find(report.parts, "attention", &PartReport::kind);
  ASSERT_NE(part, report.parts.end());
  EXPECT_EQ(part->chosen, "f8e4m3fn cache") << account_of(report);
  EXPECT_EQ(part->forms.size(), 3u);
  EXPECT_EQ(std::ranges::find(report.parts, "products", &PartReport::kind)->forms.size(), 2u)
      << "products have no cache";
  EXPECT_EQ(precision_at(outcome.recipe.precision, "layer.attention").cache, DType::f8e4m3fn);
}

TEST_F(PrecisionClimb, MeasuresTheScalesOf8BitValues) {
  const ClimbOutcome outcome = climbed();
  const auto narrow = std::ranges::find_if(
      outcome.frontier, [](const Recipe& recipe) { return narrowest(recipe.precision) == DType::f8e4m3fn; });
  ASSERT_NE(narrow, outcome.frontier.end());
  ASSERT_FALSE(narrow->calibration.empty());
  ASSERT_TRUE(narrow->calibrated_on);
  for (const auto& [label, largest] : narrow->calibration) EXPECT_GT(largest, 0) << label;
  float largest = 0;
  for (const NamedTensors& given : options.inputs)
    for (const float value : given.at("x").as<float>()) largest = std::max(largest, std::abs(value));
  const auto uniform = std::ranges::find_if(
      outcome.frontier, [](const Recipe& recipe) { return recipe.calibration.contains("layer.0.act"); });
  ASSERT_NE(uniform, outcome.frontier.end());
  EXPECT_EQ(uniform->calibration.at("layer.0.act"), largest);
}

// The products' times, of a model whose runs are slow.
double slower = 1;
void slow_product(const cpu::Call& call) {
  const DType x = call.problem.inputs[0].dtype, w = call.problem.inputs[1].dtype;
  scripted::answer(call, slower * (is_quantised(x) ? 200 : w == DType::bf16 ? 500 : 900));
}

class SlowPrecisionClimb : public PrecisionClimb {
 protected:
  SlowPrecisionClimb() { add_rows(slow_rows, {{"linear_scripted", slow_product}}); }
  ClimbOutcome climbed_within(double seconds) {
    options.budget_s = seconds;
    options.database_path = directory / fmt::format("{} in {}.json", slower, seconds);
    return climbed();
  }
  scripted::Rows slow_rows;
};

// Races of a second have no interval where a run takes half of that.
TEST_F(SlowPrecisionClimb, ChoosesAPlanThatIsClearlyFaster) {
  slower = 100;
  const ClimbOutcome outcome = climbed_within(220);
  const WholeReport* chosen = chosen_of(outcome.result.precision_search);
  ASSERT_TRUE(chosen) << account_of(outcome.result.precision_search);
  EXPECT_GT(chosen->speedup.ratio, 2);
  EXPECT_GE(chosen->speedup.pairs, 6);
  EXPECT_FALSE(outcome.recipe.precision.empty()) << "it was given up";
  EXPECT_TRUE(outcome.result.against_no_climb.is_faster());
  EXPECT_TRUE(outcome.result.against_baseline.is_faster());
}

TEST_F(SlowPrecisionClimb, EndsWithinItsBudget) {
  const std::pair<double, std::vector<double>> climbs[] = {
      {10, {5, 10, 20}}, {100, {20, 40, 60, 100, 150}}, {1000, {150, 220, 300, 500}}};
  for (const auto& [times, budgets] : climbs)
    for (const double seconds : budgets) {
      slower = times;
      EXPECT_LE(climbed_within(seconds).result.total_s, seconds) << "products take " << times << " times as long";
    }
}

}  // namespace
}  // namespace rung
