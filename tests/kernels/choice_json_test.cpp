// Kernel choices as JSON: both forms come back, and errors name the field.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/choice_json.hpp"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

namespace rung {
namespace {

using Json = nlohmann::json;

TEST(ChoiceJson, ComesBackFromEitherForm) {
  for (const KernelChoice& choice :
       {KernelChoice{"tiled", {{"tile", 642}, {"throttle", -1}}}, KernelChoice{"tiled", {}}})
    for (const Json& json : {to_json(choice), to_short_json(choice)}) {
      auto back = choice_from_json(json);
      ASSERT_TRUE(back) << back.error().message;
      EXPECT_EQ(*back, choice) << json;
    }
}

TEST(ChoiceJson, LeavesParametersOutOfTheShortFormAlone) {
  const KernelChoice plain{"tiled", {}}, tuned{"tiled", {{"tile", 642}}};
  EXPECT_EQ(to_json(plain).dump(), R"({"kernel":"tiled","params":{}})");
  EXPECT_EQ(to_short_json(plain).dump(), R"({"kernel":"tiled"})");
  EXPECT_EQ(to_json(tuned).dump(), R"({"kernel":"tiled","params":{"tile":642}})");
  EXPECT_EQ(to_short_json(tuned), to_json(tuned));
}

TEST(ChoiceJson, MayStandAmongOtherFields) {
  auto choice = choice_from_json(Json{{"kernel", "tiled"}, {"us", 3}});
  ASSERT_TRUE(choice) << choice.error().message;
  EXPECT_EQ(*choice, (KernelChoice{"tiled", {}}));
}

struct Bad {
  const char *json, *message;
};
class BadChoice : public ::testing::TestWithParam<Bad> {};

TEST_P(BadChoice, SaysWhatItsFieldGotAndWanted) {
  auto choice = choice_from_json(Json::parse(GetParam().json));
  ASSERT_FALSE(choice);
  EXPECT_EQ(choice.error().message, GetParam().message);
}

INSTANTIATE_TEST_SUITE_P(
    , BadChoice,
    ::testing::Values(Bad{"3", "got 3, wanted an object with 'kernel'"},
                      Bad{"{}", "got an object without 'kernel', wanted the name of one"},
                      Bad{R"({"kernel": 3})", "field 'kernel': got 3, wanted a kernel's name"},
                      Bad{R"({"kernel": "k", "params": [1]})",
                          "field 'params': got an array of 1, wanted an object of whole numbers"},
                      Bad{R"({"kernel": "k", "params": {"a": 0.5}})",
                          "field 'params': got 0.5 for 'a', wanted a whole number"},
                      Bad{R"({"kernel": "k", "params": {"a": "1"}})",
                          "field 'params': got the string '1' for 'a', wanted a whole number"},
                      Bad{R"({"kernel": "k", "params": {"a": 9223372036854775808}})",
                          "field 'params': got 9223372036854775808 for 'a', wanted a whole number"}));

}  // namespace
}  // namespace rung
