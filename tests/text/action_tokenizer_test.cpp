// FAST's action tokens against the tokens and actions that scipy and the published library give; make_actions.py.
// SPDX-License-Identifier: Apache-2.0
#include "text/action_tokenizer.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/json.hpp"
#include "support/temporary_directory.hpp"

namespace rung {
namespace {

using Json = nlohmann::json;
using testing::DoubleNear;
using testing::HasSubstr;
using testing::Pointwise;
using Tokens = std::vector<int64_t>;

const std::string kMotions = std::string(RUNG_TEST_DATA) + "/actions/motions";
const std::string kLetters = std::string(RUNG_TEST_DATA) + "/actions/letters";
constexpr ActionShape kShape{10, 3};
constexpr double kRounding = 1e-12;  // of sums of ten f64 terms up to 10

std::vector<double> flat(const Json& rows) {
  std::vector<double> values;
  for (const Json& row : rows) values.insert(values.end(), row.begin(), row.end());
  return values;
}

Json cases(const std::string& directory) { return *read_json_file(directory + "/cases.json"); }

ActionTokenizer opened(const std::string& directory, ActionShape shape = {}) {
  auto tokenizer = ActionTokenizer::open(directory, shape);
  EXPECT_TRUE(tokenizer) << tokenizer.error().message;
  return std::move(*tokenizer);
}

template <class T>
std::string error_of(const Result<T>& result) {
  EXPECT_FALSE(result);
  return result ? "" : result.error().message;
}

TEST(ActionTokenizer, EncodesAsPublished) {
  const ActionTokenizer tokenizer = opened(kMotions, kShape);
  for (const Json& one : cases(kMotions)) {
    const auto tokens = tokenizer.encode(flat(one["actions"]));
    ASSERT_TRUE(tokens) << tokens.error().message;
    EXPECT_EQ(*tokens, one["tokens"].get<Tokens>());
  }
}

TEST(ActionTokenizer, DecodesAsPublished) {
  const ActionTokenizer tokenizer = opened(kMotions, kShape);
  for (const Json& one : cases(kMotions)) {
    const auto actions = tokenizer.decode(one["tokens"].get<Tokens>());
    ASSERT_TRUE(actions) << actions.error().message;
    EXPECT_THAT(*actions, Pointwise(DoubleNear(kRounding), flat(one["decoded"])));
  }
}

TEST(ActionTokenizer, FindsActionsAmongAPolicysTokens) {
  const ActionTokenizer tokenizer = opened(kMotions, kShape);
  const Json one = cases(kMotions)[0];
  Tokens written{4022, 235292, 235248};  // "Action: "
  for (const int64_t token : one["tokens"].get<Tokens>()) written.push_back(257152 - 1 - 128 - token);
  written.insert(written.end(), {235371, 1});  // "|" and the end
  const auto actions = tokenizer.decode_policy(written, {.vocabulary = 257152});
  ASSERT_TRUE(actions) << actions.error().message;
  EXPECT_THAT(*actions, Pointwise(DoubleNear(kRounding), flat(one["decoded"])));
  std::swap(written[4], written[1]);
  EXPECT_THAT(error_of(tokenizer.decode_policy(written, {.vocabulary = 257152})),
              HasSubstr("wanted all action tokens together"));
}

TEST(ActionTokenizer, RefusesTokensThatAreNoChunk) {
  const ActionTokenizer tokenizer = opened(kLetters);
  const Tokens tokens = cases(kLetters)[0]["tokens"].get<Tokens>();
  EXPECT_THAT(error_of(tokenizer.decode(std::span(tokens).first(15))),
              HasSubstr("15 action tokens: got 15 coefficients, wanted 4 x 4 = 16"));
  EXPECT_THAT(error_of(tokenizer.decode(Tokens(17, 3))), HasSubstr("got 17 coefficients"));
  EXPECT_THAT(error_of(tokenizer.decode(Tokens(16, 128))), HasSubstr("got id 128"));
  EXPECT_THAT(error_of(tokenizer.decode_policy(Tokens{500}, {.vocabulary = 1000})),
              HasSubstr("no action token among them, wanted some from 744 to 871"));
  EXPECT_THAT(error_of(tokenizer.decode_policy(tokens, {.vocabulary = 128})), HasSubstr("has no room for 128"));
  EXPECT_THAT(error_of(opened(kMotions, {1, 1}).decode(Tokens{196})), HasSubstr("bytes that are no character"));
}

TEST(ActionTokenizer, RefusesActionsThatHaveNoTokens) {
  const ActionTokenizer tokenizer = opened(kLetters);
  EXPECT_THAT(error_of(tokenizer.encode(std::vector<double>(15))), HasSubstr("got 15 values of actions, wanted 4 x 4"));
  EXPECT_THAT(error_of(tokenizer.encode(std::vector<double>(16, NAN))), HasSubstr("no character stands for it"));
  EXPECT_THAT(error_of(tokenizer.encode(std::vector<double>(16, -INFINITY))), HasSubstr("no character stands for it"));
  EXPECT_THAT(error_of(tokenizer.encode(std::vector<double>(16, 5))), HasSubstr("tokenizer has no token"));
}

TEST(ActionTokenizer, WantsEachSizeOnce) {
  EXPECT_THAT(error_of(ActionTokenizer::open(kMotions)), HasSubstr("has no time_horizon"));
  EXPECT_THAT(error_of(ActionTokenizer::open(kMotions, {.horizon = 10})), HasSubstr("has no action_dim"));
  EXPECT_THAT(error_of(ActionTokenizer::open(kLetters, {.horizon = 5})), HasSubstr("got 5, and"));
  EXPECT_THAT(error_of(ActionTokenizer::open(kMotions, {-1, 3})), HasSubstr("got -1, wanted 1 to 4096"));
  EXPECT_EQ(opened(kLetters, {4, 0}).shape().dims, 4);
  const TemporaryDirectory empty;
  EXPECT_THAT(error_of(ActionTokenizer::open(empty.path())), HasSubstr("processor_config.json"));
}

}  // namespace
}  // namespace rung
