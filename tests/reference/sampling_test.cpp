// The judge's sampling against tokens that a plain statement of the rules in f64 drew, and what it refuses.
// SPDX-License-Identifier: Apache-2.0
#include <fstream>
#include <limits>
#include <sstream>

#include "ir/sampling.hpp"
#include "reference/run.hpp"

namespace rung {
namespace {

using testing::HasSubstr;

constexpr float kInfinity = std::numeric_limits<float>::infinity();

// A line of tests/data/sampling/tokens.tsv, whose make.py has the formulas of the operands.
struct Drawn {
  int64_t tokens = 0, seed = 0;
  bool has_bias = false, has_seen = false;
  std::vector<float> settings = std::vector<float>(sampling::kSettings);
  std::vector<std::pair<int64_t, int64_t>> draws;  // counter and token
};

Drawn parse(const std::string& line) {
  Drawn drawn;
  std::istringstream in(line);
  in >> drawn.tokens >> drawn.has_bias >> drawn.has_seen;
  for (size_t i = 0; i < 7; ++i) in >> drawn.settings[i];
  in >> drawn.seed;
  int64_t counter = 0, token = 0;
  char colon = 0;
  while (in >> counter >> colon >> token) drawn.draws.emplace_back(counter, token);
  return drawn;
}

std::vector<Drawn> golden() {
  std::ifstream file(RUNG_TEST_DATA "/sampling/tokens.tsv");
  std::vector<Drawn> all;
  for (std::string line; std::getline(file, line);) all.push_back(parse(line));
  return all;
}

Inputs inputs_of(const Drawn& drawn) {
  std::vector<float> logits, bias;
  std::vector<int64_t> seen;
  for (int64_t i = 0; i < drawn.tokens; ++i) {
    logits.push_back(static_cast<float>((i * 2654435761 + 12345) % (int64_t{1} << 32) >> 22) / 64 - 8);
    bias.push_back(i % 11 == 3 ? -kInfinity : static_cast<float>(i % 7 - 3) * 0.5f);
    seen.push_back(i % 3 == 0 ? i % 4 : 0);
  }
  return {{"x", f32({drawn.tokens}, logits)},
          {"settings", f32({sampling::kSettings}, drawn.settings)},
          {"bias", f32({drawn.tokens}, bias)},
          {"seen", i64({drawn.tokens}, seen)}};
}

std::string expression_of(const Drawn& drawn) {
  const std::string slots = drawn.has_bias && drawn.has_seen ? ", slots=bias+seen"
                            : drawn.has_bias                 ? ", slots=bias"
                            : drawn.has_seen                 ? ", slots=seen"
                                                             : "";
  return fmt::format("sample(x:f32[{0}], settings:f32[8], draw:i64[2]{1}{2}{3})", drawn.tokens,
                     drawn.has_bias ? fmt::format(", bias:f32[{}]", drawn.tokens) : "",
                     drawn.has_seen ? fmt::format(", seen:i64[{}]", drawn.tokens) : "", slots);
}

TEST(SamplingReference, DrawsWhatAPlainStatementDraws) {
  size_t draws = 0;
  for (const Drawn& drawn : golden()) {
    Inputs inputs = inputs_of(drawn);
    SCOPED_TRACE(fmt::format("{} {}", expression_of(drawn), fmt::join(drawn.settings, " ")));
    for (const auto& [counter, token] : drawn.draws) {
      inputs.insert_or_assign("draw", i64({2}, {drawn.seed, counter}));
      EXPECT_EQ(run(expression_of(drawn), inputs).as<int64_t>()[0], token) << "counter " << counter;
      ++draws;
    }
  }
  EXPECT_GT(draws, 4000u);
}

TEST(SamplingReference, RandomNumbersAreThePublishedOnes) {
  sampling::Philox zeros{{0, 0, 0, 0}, {0, 0}}, ones{{~0u, ~0u, ~0u, ~0u}, {~0u, ~0u}};
  zeros.encrypt(), ones.encrypt();
  EXPECT_THAT(zeros.counter, testing::ElementsAre(0x6627e8d5u, 0xe169c58du, 0xbc57ac4cu, 0x9b00dbd8u));
  EXPECT_THAT(ones.counter, testing::ElementsAre(0x408f276du, 0x41c83b0eu, 0xa20bc7c6u, 0x6d5451fdu));
}

std::string error_of_sampling(const std::vector<float>& logits, const std::vector<float>& settings) {
  const Inputs inputs{{"x", f32({3}, logits)}, {"s", f32({8}, settings)}, {"d", i64({2}, {0, 0})}};
  return error_of("sample(x:f32[3], s:f32[8], d:i64[2])", inputs);
}

TEST(SamplingReference, RefusesLogitsThatAreNoNumbers) {
  const std::vector<float> neutral{1, 0, 1, 0, 1, 0, 0, 0}, greedy{0, 0, 1, 0, 1, 0, 0, 0};
  for (const auto& settings : {neutral, greedy}) {
    EXPECT_THAT(error_of_sampling({1, std::nanf(""), 2}, settings), HasSubstr("logits: got nan at place 1"));
    EXPECT_THAT(error_of_sampling({1, 2, kInfinity}, settings), HasSubstr("logits: got inf at place 2"));
    EXPECT_THAT(error_of_sampling({-kInfinity, -kInfinity, -kInfinity}, settings),
                HasSubstr("logits: got 3 times -inf, wanted a token that is not banned"));
    EXPECT_EQ(error_of_sampling({-kInfinity, -3e38f, -kInfinity}, settings), "no error");
  }
}

TEST(SamplingReference, RefusesSettingsOutOfTheirRanges) {
  const std::vector<float> neutral{1, 0, 1, 0, 1, 0, 0, 0};
  const std::vector<std::pair<size_t, std::vector<float>>> wrong{
      {0, {-1, kInfinity}},    {1, {-1, 2.5f, kInfinity}}, {2, {-0.1f, 1.1f}}, {3, {-0.1f, 1.1f}},
      {4, {0, -1, kInfinity}}, {5, {kInfinity}},           {6, {-kInfinity}},  {7, {1}}};
  for (const auto& [setting, values] : wrong)
    for (float value : values) {
      std::vector<float> settings = neutral;
      for (float bad : {value, std::nanf("")}) {
        settings[setting] = bad;
        EXPECT_THAT(error_of_sampling({1, 2, 3}, settings), HasSubstr("settings: got [")) << setting << ": " << bad;
      }
    }
}

}  // namespace
}  // namespace rung
