// Several sets of inputs: what is judged and calibrated on all of them, and sets that do not fit the first.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "open/inputs.hpp"
#include "open/open_model.hpp"
#include "open/recipe.hpp"
#include "plan/file.hpp"
#include "support/bert_tiny.hpp"
#include "support/temporary_directory.hpp"

namespace rung {
namespace {

using ::testing::HasSubstr;

GivenArrays in_file(NamedTensors arrays, const std::string& file) {
  GivenArrays given = given_arrays(std::move(arrays));
  given.source = file;
  return given;
}

class FurtherInputs : public ::testing::Test {
 protected:
  NamedTensors first = *read_npz(kBert + "/inputs.npz"), second = *read_npz(kBert + "/inputs.npz");
  OpenOptions options{.path = kBert, .threads = 1};
  TemporaryDirectory folder;

  void SetUp() override {
    Tensor other({DType::i64, {1, 9}});
    std::ranges::fill(other.as<int64_t>(), 7);
    second["input_ids"] = other;
  }
  Result<Opened> open() {
    options.inputs = in_file(first, "first.npz");
    options.further_inputs = {in_file(second, "second.npz")};
    return open_model(options);
  }
  void expect_refused(const std::string& message) {
    const auto opened = open();
    ASSERT_FALSE(opened);
    EXPECT_THAT(opened.error().message, HasSubstr(message));
  }
};

TEST_F(FurtherInputs, AreJudgedBesideTheFirst) {
  const auto opened = open();
  ASSERT_TRUE(opened) << opened.error().message;
  const std::vector<NamedTensors> sets = verification_inputs(*opened);
  ASSERT_EQ(sets.size(), 2u);
  EXPECT_EQ(sets[0].at("input_ids").as<int64_t>()[0], first.at("input_ids").as<int64_t>()[0]);
  EXPECT_EQ(sets[1].at("input_ids").as<int64_t>()[0], 7);
}

TEST_F(FurtherInputs, LeaveTheRestToBeSampled) {
  first.erase("input_ids"), second.erase("input_ids");
  const auto opened = open();
  ASSERT_TRUE(opened) << opened.error().message;
  const std::vector<NamedTensors> sets = verification_inputs(*opened);
  ASSERT_EQ(sets.size(), 2u);
  EXPECT_NE(sets[0].at("input_ids").as<int64_t>()[1], sets[1].at("input_ids").as<int64_t>()[1]);
}

TEST_F(FurtherInputs, MayRepeatWhatIsFrozen) {
  options.freeze = {"attention_mask"};
  const auto opened = open();
  ASSERT_TRUE(opened) << opened.error().message;
  for (const NamedTensors& set : verification_inputs(*opened)) EXPECT_FALSE(set.contains("attention_mask"));
}

TEST_F(FurtherInputs, GiveWhatIsFrozenOneValue) {
  options.freeze = {"attention_mask"};
  second["attention_mask"] = Tensor({DType::i64, {1, 9}});
  expect_refused("'first.npz' and 'second.npz' give 'attention_mask', which is frozen, two values");
}

TEST_F(FurtherInputs, GiveWhatTheFirstGives) {
  second.erase("input_ids");
  expect_refused("'second.npz' gives no 'input_ids', but 'first.npz' does");
  std::swap(first, second);
  expect_refused("'second.npz' gives 'input_ids', but 'first.npz' does not");
}

TEST_F(FurtherInputs, HaveTheShapesOfTheFirst) {
  second["input_ids"] = Tensor({DType::i64, {1, 8}});
  expect_refused("'second.npz': input 'input_ids': got i64[1,8], wanted i64[1,9]");
}

TEST_F(FurtherInputs, AreForNoPlan) {
  const auto opened = open();
  ASSERT_TRUE(opened) << opened.error().message;
  auto plan = plan_of(*opened, std::nullopt, options);
  ASSERT_TRUE(plan) << plan.error().message;
  options.path = folder / "a.rung";
  ASSERT_TRUE(save_plan(**plan, options.path));
  expect_refused("is a plan: got 2 sets of inputs, wanted one");
}

}  // namespace
}  // namespace rung
