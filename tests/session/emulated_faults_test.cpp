// Faults that several blocks of a kernel report at once: the emulator tells of the values, not of a race between them.
// SPDX-License-Identifier: Apache-2.0
#include "plan/support.hpp"
#include "support/device.hpp"

namespace rung {
namespace {

using ::testing::HasSubstr;

class EmulatedFaults : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    auto target = open_target(GetParam());
    if (!target) GTEST_SKIP() << target.error().message;
    target_ = *target;
  }
  // Returns the error of a run whose input `i` has `index` in all elements.
  std::string error_of(const char* text, int64_t index) {
    auto built = build_plan(graph_of(text), {.threads = 0}, {.target = target_});
    EXPECT_TRUE(built) << built.error().message;
    if (!built) return {};
    NamedTensors inputs;
    for (const PlanInput& input : built->plan.inputs) {
      Tensor& value = inputs[input.name] = Tensor(input.type);
      if (input.name == "i") std::ranges::fill(value.as<int64_t>(), index);
    }
    auto session = Session::create(std::make_shared<Plan>(std::move(built->plan)), nullptr);
    EXPECT_TRUE(session) << session.error().message;
    const auto outputs = session->infer(inputs);
    return outputs ? "no error" : outputs.error().message;
  }

 private:
  const Target* target_ = nullptr;
};
INSTANTIATE_TEST_SUITE_P(All, EmulatedFaults, ::testing::Values("emu:gfx942", "emu:gfx950"),
                         [](const auto& device) { return std::string(device.param).substr(4); });

// Each block has as many threads as 256 elements.
TEST_P(EmulatedFaults, OfManyLookUpsAreNoRace) {
  constexpr const char* kLookup =
      "t: f32[4,64] = input()\n"
      "i: i64[64] = input()\n"
      "j: i64[64] = add(i, i)\n"
      "a: f32[64,64] = gather(t, j, axis=0)  # the.lookup\n"
      "return a=a";
  EXPECT_EQ(error_of(kLookup, 1), "no error");
  EXPECT_THAT(error_of(kLookup, 7), HasSubstr("an index is out of range"));
}

TEST_P(EmulatedFaults, OfManyDivisionsAreNoRace) {
  constexpr const char* kDivision =
      "n: i64[4096] = input()\n"
      "i: i64[4096] = input()\n"
      "d: i64[4096] = div(n, i)  # the.division\n"
      "return d=d";
  EXPECT_EQ(error_of(kDivision, 3), "no error");
  EXPECT_THAT(error_of(kDivision, 0), HasSubstr("an integer is divided by zero"));
}

}  // namespace
}  // namespace rung
