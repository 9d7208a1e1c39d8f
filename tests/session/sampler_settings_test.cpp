// Settings of sampling that are out of their range are named alone.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>

#include "session/sampler.hpp"

namespace rung {
namespace {

std::string refusal_of(const sampling::Settings& settings) {
  const Status checked = Sampler::check(24, {.settings = settings});
  return checked ? "none" : checked.error().message;
}

TEST(SamplerSettings, AreNamedWhereTheyAreWrong) {
  EXPECT_EQ(refusal_of({}), "none");
  EXPECT_EQ(refusal_of({.temperature = -1}), "temperature: got -1, wanted a number from 0 on");
  EXPECT_EQ(refusal_of({.top_k = 1.5f}), "top_k: got 1.5, wanted a whole number from 0 on");
  EXPECT_EQ(refusal_of({.top_p = 2}), "top_p: got 2, wanted a number from 0 to 1");
  EXPECT_EQ(refusal_of({.min_p = -0.5f}), "min_p: got -0.5, wanted a number from 0 to 1");
  EXPECT_EQ(refusal_of({.repetition = 0}), "repetition penalty: got 0, wanted a number above 0");
  EXPECT_EQ(refusal_of({.presence = NAN}), "presence penalty: got nan, wanted a number");
  EXPECT_EQ(refusal_of({.frequency = INFINITY}), "frequency penalty: got inf, wanted a number");
}

}  // namespace
}  // namespace rung
