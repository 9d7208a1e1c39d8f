// The published library's rules leave the same tokens behind texts of all kinds.
// SPDX-License-Identifier: Apache-2.0
#include "session/timestamp_rules.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "import/npz.hpp"
#include "session/sampler.hpp"

namespace rung {
namespace {

constexpr int64_t kTokens = 40;
constexpr TimestampRules kRules{.none = 19, .end = 15, .latest = 3};  // as tests/data/timestamps/make.py has them

NamedTensors saved(const std::string& name) {
  const auto arrays = read_npz(std::string(RUNG_TEST_DATA) + "/timestamps/" + name);
  EXPECT_TRUE(arrays) << arrays.error().message;
  return *arrays;
}

std::vector<int64_t> row_of(const Tensor& all, size_t row) {
  const auto width = static_cast<size_t>(all.shape()[1]);
  std::vector<int64_t> tokens;
  for (int64_t token : all.as<int64_t>().subspan(row * width, width))
    if (token >= 0) tokens.push_back(token);
  return tokens;
}

void expect_published_choice(const std::string& name, const TimestampRules& rules) {
  const NamedTensors arrays = saved(name);
  const auto allowed = arrays.at("allowed").as<bool>();
  const auto rows = static_cast<size_t>(arrays.at("scores").shape()[0]);
  for (size_t row = 0; row < rows; ++row) {
    const auto all = arrays.at("scores").as<float>().subspan(row * kTokens, kTokens);
    std::vector<float> scores(all.begin(), all.end());
    const std::vector<int64_t> made = row_of(arrays.at("made"), row);
    keep_allowed(rules, made, scores);
    for (size_t token = 0; token < scores.size(); ++token)
      ASSERT_EQ(scores[token], allowed[row * kTokens + token] ? all[token] : -INFINITY)
          << "token " << token << " behind " << testing::PrintToString(made);
  }
}

TEST(TimestampRules, LeaveWhatThePublishedOnesLeave) {
  expect_published_choice("rules.npz", kRules);
  expect_published_choice("rules_any.npz", {.none = 19, .end = 15});
}

TEST(TimestampRules, LeaveScoresThatAreNoNumbers) {
  std::vector<float> scores(kTokens, 0.0f);
  scores[3] = NAN, scores[4] = INFINITY;
  keep_allowed(kRules, {}, scores);
  EXPECT_TRUE(std::isnan(scores[3]));
  EXPECT_EQ(scores[4], INFINITY);
}

TEST(Sampler, GuessesByTheRulesOfTimes) {
  const auto sampler = [] {
    return Sampler::make(kTokens, {.settings = {.temperature = 1}, .seed = 2, .timestamps = kRules}).value();
  };
  Sampler guesses = sampler(), chooses = sampler();
  Tensor scores({DType::f32, {1, kTokens}});
  for (size_t i = 0; i < kTokens; ++i) scores.as<float>()[i] = static_cast<float>(i % 7) / 2;
  std::vector<int64_t> guessed, chosen;
  for (int i = 0; i < 12; ++i) guessed.push_back(guesses.guess(scores, guessed).value());
  for (int i = 0; i < 12; ++i) chosen.push_back(chooses.next(scores).value());
  EXPECT_EQ(guessed, chosen);
  EXPECT_TRUE(kRules.is_time(chosen[0]));
  EXPECT_FALSE(kRules.is_time(chosen[1]));
}

TEST(Sampler, JudgesTimesByScoresWithPenaltiesAndBans) {
  Tensor scores({DType::f32, {1, kTokens}});
  scores.as<float>()[6] = 9, scores.as<float>()[8] = 3;
  const auto second = [&](std::vector<std::pair<int64_t, float>> bias, float repetition) {
    Sampler sampler = Sampler::make(kTokens, {.settings = {.temperature = 0, .repetition = repetition},
                                              .bias = std::move(bias),
                                              .timestamps = TimestampRules{.none = 19, .end = 15}})
                          .value();
    sampler.saw(std::vector<int64_t>{6});
    sampler.chose(20), sampler.chose(2);
    return sampler.next(scores).value();
  };
  EXPECT_EQ(second({}, 1), 6);
  EXPECT_EQ(second({{6, -INFINITY}}, 1), 8) << "19 times of score 0 are less likely than e^3";
  EXPECT_EQ(second({}, 9), 8);
  EXPECT_EQ(second({{6, -INFINITY}, {8, -INFINITY}}, 1), 21);
}

TEST(Sampler, RefusesTimesBeyondTheVocabulary) {
  const auto refusal = [](const TimestampRules& rules) {
    return Sampler::check(kTokens, {.timestamps = rules}).error().message;
  };
  EXPECT_EQ(refusal({.none = 39, .end = 15}),
            "timestamps: got token 15 for the end of a text and 40 for times, wanted rising ones below 40");
  EXPECT_THAT(refusal({.none = 19, .end = 20}), testing::HasSubstr("got token 20"));
}

}  // namespace
}  // namespace rung
