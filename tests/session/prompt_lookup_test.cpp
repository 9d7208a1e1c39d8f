// Drafts out of a text itself, and when they pay.
// SPDX-License-Identifier: Apache-2.0
#include "session/prompt_lookup.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "session/speculation.hpp"

namespace rung {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::vector<int64_t> drafts(const std::vector<int64_t>& text, size_t most = 3) { return look_up(text, most); }

TEST(LookUp, GoesOnAsTheTextDidBefore) {
  EXPECT_THAT(drafts({1, 2, 3, 4, 5, 1, 2}, 5), ElementsAre(3, 4, 5, 1, 2));
  EXPECT_THAT(drafts({1, 2, 3, 4, 5, 1, 2}, 2), ElementsAre(3, 4));
  EXPECT_THAT(drafts({1, 2, 3, 1, 2}, 7), ElementsAre(3, 1, 2, 3, 1, 2, 3)) << "and so on";
  EXPECT_THAT(drafts({7, 7, 7, 7}, 3), ElementsAre(7, 7, 7));
}

TEST(LookUp, PrefersTheLongestPartThenTheLatest) {
  EXPECT_THAT(drafts({9, 1, 2, 5, 0, 1, 2, 6, 9, 1, 2}, 1), ElementsAre(5)) << "three alike, though earlier";
  EXPECT_THAT(drafts({1, 2, 5, 0, 1, 2, 6, 8, 1, 2}, 1), ElementsAre(6));
}

TEST(LookUp, FindsNothingInATextThatIsNew) {
  EXPECT_THAT(drafts({}), IsEmpty());
  EXPECT_THAT(drafts({1, 2}), IsEmpty());
  EXPECT_THAT(drafts({1, 2, 3, 4, 1}), IsEmpty()) << "one token alike is no sign";
  EXPECT_THAT(drafts({1, 2, 3, 1, 2}, 0), IsEmpty());
}

TEST(Drafts, PayByTheTimePerToken) {
  const TimedRuns plain{.count = 10, .ns = 1000};  // 100 a token
  EXPECT_TRUE(drafts_pay(plain, {.count = 4, .ns = 1200}, 8)) << "1200 for 12 tokens";
  EXPECT_FALSE(drafts_pay(plain, {.count = 4, .ns = 1201}, 8));
  EXPECT_FALSE(drafts_pay(plain, {.count = 4, .ns = 500}, 0));
  EXPECT_TRUE(drafts_pay(plain, {.count = 3, .ns = 9000}, 0)) << "too few to tell";
  EXPECT_TRUE(drafts_pay({.count = 1, .ns = 1}, {.count = 4, .ns = 9000}, 0)) << "too few to tell";
}

TEST(Drafts, AreComparedWithPlainRunsAllAlong) {
  const auto wanted = [](int64_t plain, int64_t ahead) { return wants_plain_run({.count = plain}, {.count = ahead}); };
  EXPECT_TRUE(wanted(0, 0));
  EXPECT_TRUE(wanted(1, 0));
  EXPECT_FALSE(wanted(2, 0));
  EXPECT_FALSE(wanted(2, 15));
  EXPECT_TRUE(wanted(2, 16));
  EXPECT_FALSE(wanted(3, 16));
}

TEST(Drafts, AreOffOnOrAutomatic) {
  EXPECT_EQ(*parse_speculate("auto"), Speculate::automatic);
  EXPECT_THAT(parse_speculate("yes").error().message, HasSubstr("got 'yes', wanted 'off', 'on' or 'auto'"));
}

}  // namespace
}  // namespace rung
