// Low precision on many inputs: a fused plan of a bf16 checkpoint rounds less than the unfused one does.
// SPDX-License-Identifier: Apache-2.0
#include "models/policy.hpp"
#include "open/recipe.hpp"
#include "support/sample_inputs.hpp"

namespace rung {
namespace {

constexpr int kInputs = 24;

// Random images, prompt, state and noise; every second time without the last camera and the prompt's last token.
NamedTensors varied_inputs(const Model& model, uint64_t seed) {
  NamedTensors inputs = sample_inputs(model, seed);
  for (const char* name : {"image_mask", "token_mask"}) {
    Tensor mask(model.defaults.at(name).type);
    for (bool& flag : mask.as<bool>()) flag = true;
    mask.as<bool>().back() = seed % 2 == 0;
    inputs[name] = mask;
  }
  return inputs;
}

// 20 actions average few roundings, so that a single input says little: one error over all of them.
struct Errors {
  double squares = 0, worst = 0;
  void add(double error) { squares += error * error, worst = std::max(worst, error); }
  double mean() const { return std::sqrt(squares / kInputs); }
};

class Rounding : public ::testing::TestWithParam<const char*> {
 protected:
  Policy policy{GetParam()};
  // Of a plan, against the same weights in f32.
  Errors errors_of(const Subject& subject, const Recipe& recipe) {
    Session session = session_of(subject, recipe), exact = session_of(policy.subject(), {});
    Errors errors;
    for (uint64_t seed = 1; seed <= kInputs; ++seed) {
      NamedTensors inputs = varied_inputs(subject.model, seed);
      errors.add(relative_l2(actions_of(session, inputs), actions_of(exact, inputs)));
    }
    RecordProperty("mean", fmt::format("{:.3g}", errors.mean()));
    return errors;
  }
};

TEST_P(Rounding, OfTheDefaultRecipeIsBelowTheBaselines) {
  Subject subject = policy.subject({});
  Errors baseline = errors_of(subject, {}), fused = errors_of(subject, default_recipe(1));
  EXPECT_LT(fused.mean(), 0.8 * baseline.mean());
  EXPECT_LT(fused.worst, 1.25 * baseline.worst);
}

TEST_P(Rounding, OfTheRungPrecisionIsBelowTheBaselines) {
  Errors baseline = errors_of(policy.subject({}), {});
  Errors narrowed = errors_of(policy.subject(), default_recipe(1, DType::bf16));
  EXPECT_LT(narrowed.mean(), 0.8 * baseline.mean());
  EXPECT_LT(narrowed.worst, 1.25 * baseline.worst);
}

INSTANTIATE_TEST_SUITE_P(Tiny, Rounding, ::testing::Values("pi0_tiny", "pi0_tiny_masked", "pi05_tiny"),
                         [](const auto& directory) { return std::string(directory.param); });

}  // namespace
}  // namespace rung
