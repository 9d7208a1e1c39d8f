// A search for precision tries smoothed and rotated integers where channels differ in size, and takes them where they
// bring the error within its limit.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "ladder/climb.hpp"
#include "ladder/profile.hpp"
#include "support.hpp"
#include "support/scripted.hpp"

namespace rung {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

double us_beside_columns = 0;  // that a product of 8 bits takes where some columns keep their type

void timed_product(const cpu::Call& call) {
  const bool has_outliers = call.problem.as<Linear>().has(LinearSlot::w_outliers);
  scripted::answer(call, has_outliers ? us_beside_columns : is_quantised(call.problem.inputs[0].dtype) ? 200 : 900);
}

class OutlierClimb : public ::testing::Test {
 protected:
  OutlierClimb() {
    us_beside_columns = 700;
    subject.model.name = "scripted";
    subject.model.defaults["x"].type = {DType::f32, {4, 64}};
    know_peaks(1, {.fma_f32_gflops = 1, .gemm_f32_gflops = 1, .gemm_bf16_gflops = 2, .read_gbps = 1});
    rows.add("linear", {{"linear_scripted", timed_product}});
    rows.add("quantize", {{"quantize_scripted", scripted::right<5>}});
    for (const char* family : {"unary", "cast", "pointwise", "binary", "reduce", "rms_norm"})
      rows.add(family, {{family, scripted::right<10>}});
    target = rows.target();
  }

  // Makes a model one of whose channels behind the norm is that many times as large as it was, with the same answers.
  void make_model(float outlier) {
    auto graph = parse_graph(
        "x: f32[4,64] = input()\ng: f32[64] = constant()\nu: f32[64,64] = constant()\nd: f32[16,64] = constant()\n"
        "n = rms_norm(x, g)  # layer.0.norm\na = linear(n, u)  # layer.0.up\nt = tanh(a)  # layer.0.act\n"
        "y = linear(t, d)  # layer.0.down\nreturn y=y",
        [&](const std::string& name, const Type& type) {
          Tensor value = random_tensor(name, type);
          for (size_t i = 5; i < value.as<float>().size() && name != "d"; i += 64)
            value.as<float>()[i] *= name == "g" ? outlier : 1 / outlier;
          if (name == "g")
            for (float& weight : value.as<float>()) weight = std::copysign(std::max(std::abs(weight), 0.5f), weight);
          return std::make_shared<Literal>(name, value);
        });
    ASSERT_TRUE(graph) << graph.error().message;
    subject.model.graph = subject.reference = std::move(*graph);
  }
  ClimbOutcome climbed() {
    auto outcome = climb(subject, options);
    EXPECT_TRUE(outcome) << outcome.error().message;
    return outcome ? std::move(*outcome) : ClimbOutcome{};
  }
  static double error_of(const PartReport& part, const char* form) {
    const auto found = std::ranges::find(part.forms, form, &FormReport::name);
    EXPECT_NE(found, part.forms.end()) << form;
    return found == part.forms.end() ? NAN : found->rel_l2;
  }
  static NamedTensors inputs(const char* salt) { return {{"x", random_tensor(salt, {DType::f32, {4, 64}})}}; }

  scripted::Clock clock;
  scripted::Rows rows;
  Target target = cpu_target();
  Subject subject;
  TemporaryDirectory directory;
  ClimbOptions options{.target = &target,
                       .threads = 1,
                       .budget_s = 120,
                       .goal = {.rel_l2 = 0.03},
                       .forms = {{"f32", DType::f32, {}}, {"i8", DType::i8, {}}},
                       .inputs = {inputs("one"), inputs("two"), inputs("three")},
                       .database_path = directory / "tuning.json"};
};

TEST_F(OutlierClimb, ChoosesColumnsBesideIntegers) {
  make_model(200);
  us_beside_columns = 190;
  const ClimbOutcome outcome = climbed();
  const PrecisionReport& report = outcome.result.precision_search;
  const auto part = std::ranges::find(report.parts, "layer.*.act, layer.*.up", &PartReport::name);
  ASSERT_NE(part, report.parts.end());
  EXPECT_LT(error_of(*part, "i8 beside 2 columns"), 0.3 * error_of(*part, "i8"));
  EXPECT_THAT(part->chosen, HasSubstr("i8 beside "));
  ASSERT_EQ(outcome.recipe.outlier_columns.count("layer.0.act"), 1u);
  const Columns& columns = outcome.recipe.outlier_columns.at("layer.0.act");
  EXPECT_THAT(columns, Contains(5)) << "the channel that was made larger";
  EXPECT_TRUE(outcome.recipe.calibrated_on);
  EXPECT_LE(outcome.result.rel_l2, 0.03);
}

TEST_F(OutlierClimb, ChoosesSmoothedIntegers) {
  make_model(200);
  const ClimbOutcome outcome = climbed();
  const PrecisionReport& report = outcome.result.precision_search;
  const auto part = std::ranges::find(report.parts, "layer.*.act, layer.*.up", &PartReport::name);
  ASSERT_NE(part, report.parts.end());
  EXPECT_LT(error_of(*part, "i8 smoothed"), 0.3 * error_of(*part, "i8"));
  EXPECT_EQ(part->chosen, "i8 smoothed");
  EXPECT_THAT(report.notes, Contains("i8 rotated: no product would read other values"));
  EXPECT_EQ(outcome.recipe.channel_calibration.size(), 1u);
  EXPECT_EQ(outcome.recipe.channel_calibration.count("layer.0.act"), 1u);
  EXPECT_TRUE(outcome.recipe.calibrated_on);
  EXPECT_LE(outcome.result.rel_l2, 0.03);
}

// Rotating all weights takes many times as long as a trial of a plain form, which must not wait for it.
TEST_F(OutlierClimb, MeasuresErrorsOfPlainFormsFirst) {
  make_model(200);
  std::vector<std::string> told;
  options.progress = [&told](const std::string& what, double) { told.push_back(what); };
  climbed();
  const auto place = [&told](std::string_view what) {
    return std::ranges::find_if(told, [&](const std::string& one) { return one.starts_with(what); }) - told.begin();
  };
  EXPECT_LT(place("precision: all i8, "), place("precision: errors of parts"));
  EXPECT_LT(place("precision: errors of parts"), place("precision: the size of channels"));
  EXPECT_LT(place("precision: the size of channels"), place("precision: all i8 smoothed"));
  EXPECT_LT(place("precision: all i8 smoothed"), std::ssize(told));
}

TEST_F(OutlierClimb, TriesNothingWhereChannelsAreAlike) {
  make_model(1);
  const PrecisionReport report = climbed().result.precision_search;
  EXPECT_THAT(report.notes, Contains(HasSubstr("i8 smoothed or rotated: the largest channel is ")));
  EXPECT_THAT(report.notes, Contains(HasSubstr("i8 beside 2 columns: no product reads 2 channels of which one is")));
  for (const PartReport& part : report.parts)
    for (const FormReport& form : part.forms)
      EXPECT_THAT(form.name, AllOf(Not(HasSubstr("smoothed")), Not(HasSubstr("beside"))));
}

}  // namespace
}  // namespace rung
