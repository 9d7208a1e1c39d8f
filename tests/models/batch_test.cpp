// Batches of texts: plans that take several rows answer each as a plan of one row does, whatever the other rows hold.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <cstdlib>
#include <memory>

#include "api/text_inputs.hpp"
#include "base/random.hpp"
#include "ladder/rungs.hpp"
#include "open/recipe.hpp"
#include "open/subject.hpp"
#include "plan/build.hpp"
#include "reference/evaluate.hpp"
#include "session/session.hpp"
#include "support/graphs.hpp"
#include "support/rows.hpp"
#include "text/tokenizer.hpp"

namespace rung {
namespace {

using Outputs = std::vector<std::pair<std::string, Tensor>>;

const std::string kTiny = std::string(RUNG_TEST_DATA) + "/bert_tiny";

Subject encoder(const std::string& directory, int64_t rows, int64_t length) {
  Subject subject;
  auto model = import_model(directory, {.shapes = {{"input_ids", Shape{rows, length}}}});
  EXPECT_TRUE(model) << model.error().message;
  if (model) subject.model = std::move(*model);
  return subject;
}

Session session_of_batch(const Subject& subject, const Recipe& recipe) {
  auto built = build_plan(subject.model.graph, recipe);
  EXPECT_TRUE(built) << built.error().message;
  attach_model(built->plan, subject);
  auto session =
      Session::create(std::make_shared<Plan>(std::move(built->plan)), std::make_shared<cpu::Team>(recipe.threads));
  EXPECT_TRUE(session) << session.error().message;
  return std::move(*session);
}

Outputs infer(Session& session, const NamedTensors& inputs) {
  auto outputs = session.infer(inputs);
  EXPECT_TRUE(outputs) << outputs.error().message;
  return outputs ? std::move(*outputs) : Outputs{};
}

// Texts of different lengths, the last of them empty: nothing but padding.
NamedTensors texts(int64_t rows, int64_t length, int64_t vocabulary) {
  NamedTensors all;
  for (const char* name : {"input_ids", "attention_mask", "token_type_ids"})
    all[name] = Tensor({DType::i64, {rows, length}});
  for (int64_t row = 0; row < rows; ++row) {
    const int64_t tokens = row + 1 == rows ? 0 : length - 3 * row;
    for (int64_t i = 0; i < length; ++i) {
      const auto at = static_cast<size_t>(row * length + i);
      all["input_ids"].as<int64_t>()[at] = static_cast<int64_t>(random_bits(7, at) % static_cast<uint64_t>(vocabulary));
      all["attention_mask"].as<int64_t>()[at] = i < tokens;
      all["token_type_ids"].as<int64_t>()[at] = i > length / 2 + row;
    }
  }
  return all;
}

NamedTensors row_of(const NamedTensors& batch, int64_t row) {
  NamedTensors one;
  for (const auto& [name, value] : batch) one.emplace(name, row_of(value, row));
  return one;
}

// The plan of `rows` texts against the plan of one, row by row, and both against the evaluator.
struct Comparison {
  std::string directory = kTiny;
  int64_t rows = 3, length = 17, vocabulary = 64;
  double tolerance = 2e-6;

  void expect_rows_as_alone(const Recipe& recipe) const {
    const Subject batch = encoder(directory, rows, length), single = encoder(directory, 1, length);
    Session together = session_of_batch(batch, recipe), alone = session_of_batch(single, recipe);
    const NamedTensors inputs = texts(rows, length, vocabulary);
    const Outputs got = infer(together, inputs);
    ASSERT_EQ(got.size(), 2u);
    for (int64_t row = 0; row < rows; ++row) {
      const Outputs want = infer(alone, row_of(inputs, row));
      ASSERT_EQ(want.size(), got.size());
      for (size_t i = 0; i < got.size(); ++i)
        EXPECT_LT(relative_l2(row_of(got[i].second, row), want[i].second), tolerance)
            << got[i].first << " of row " << row;
    }
    expect_as_evaluated(batch, inputs, got);
  }

 private:
  void expect_as_evaluated(const Subject& batch, const NamedTensors& inputs, const Outputs& got) const {
    auto want = evaluate(batch.model.graph, inputs);
    ASSERT_TRUE(want) << want.error().message;
    for (size_t i = 0; i < got.size(); ++i)
      EXPECT_LT(relative_l2(got[i].second, (*want)[i]), tolerance) << got[i].first;
  }
};

Recipe baseline(int threads) {
  Recipe recipe;
  recipe.threads = threads;
  return recipe;
}

TEST(Batch, OfTheBaselineAnswersEachRowSeparately) {
  for (int threads : {1, 2}) Comparison{}.expect_rows_as_alone(baseline(threads));
}

TEST(Batch, OfTheDefaultRecipeAnswersEachRowSeparately) {
  for (int threads : {1, 2, 3}) Comparison{}.expect_rows_as_alone(default_recipe(threads));
}

TEST(Batch, InBf16GivesEachRowItsOwnAnswer) {
  Comparison{.tolerance = 2e-2}.expect_rows_as_alone(default_recipe(2, DType::bf16));
}

// Each rung that a climb may turn off, off.
TEST(Batch, WithoutAnyOneRungAnswersEachRowSeparately) {
  for (const Rung& rung : ladder()) {
    Recipe recipe = default_recipe(2);
    if (rung.opt_in) continue;
    rung.remove(recipe);
    SCOPED_TRACE(rung.name);
    Comparison{}.expect_rows_as_alone(recipe);
  }
}

TEST(Batch, WithFrozenMasksAnswersEachRowSeparately) {
  const NamedTensors inputs = texts(3, 17, 64);
  Subject frozen = encoder(kTiny, 3, 17);
  ASSERT_TRUE(freeze_inputs(frozen.model, {{"attention_mask", inputs.at("attention_mask")}}));
  Session session = session_of_batch(frozen, default_recipe(2)),
          alone = session_of_batch(encoder(kTiny, 1, 17), default_recipe(2));
  NamedTensors given = inputs;
  given.erase("attention_mask");
  const Outputs got = infer(session, given);
  ASSERT_EQ(got.size(), 2u);
  for (int64_t row = 0; row < 3; ++row) {
    const Outputs want = infer(alone, row_of(inputs, row));
    for (size_t i = 0; i < got.size(); ++i)
      EXPECT_LT(relative_l2(row_of(got[i].second, row), want[i].second), 2e-6) << got[i].first << " of row " << row;
  }
}

TEST(Batch, LeavesNothingFromAnEarlierRun) {
  Session session = session_of_batch(encoder(kTiny, 3, 17), default_recipe(2));
  const NamedTensors inputs = texts(3, 17, 64);
  NamedTensors others = texts(3, 17, 64);
  for (size_t i = 17; i < 51; ++i)
    others["input_ids"].as<int64_t>()[i] = 1, others["attention_mask"].as<int64_t>()[i] = 1;
  const Outputs first = infer(session, inputs), between = infer(session, others), again = infer(session, inputs);
  for (size_t i = 0; i < first.size(); ++i) {
    EXPECT_TRUE(same_bits(first[i].second, again[i].second)) << first[i].first;
    EXPECT_FALSE(same_bits(first[i].second, between[i].second)) << first[i].first;
    EXPECT_LT(relative_l2(row_of(between[i].second, 0), row_of(first[i].second, 0)), 2e-6) << first[i].first;
  }
}

TEST(Batch, OfTheRealModelAnswersEachRowSeparately) {
  const char* directory = std::getenv("RUNG_MODEL_DIR");
  if (!directory) GTEST_SKIP() << "RUNG_MODEL_DIR names no all-MiniLM-L6-v2";
  Comparison{.directory = directory, .rows = 2, .length = 16, .vocabulary = 30522, .tolerance = 5e-6}
      .expect_rows_as_alone(default_recipe(2));
}

TEST(Batch, RefusesOneTextWhereItTakesSeveral) {
  Subject subject = encoder(kTiny, 2, 9);
  subject.attachments = {{"vocab.txt", "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\na\n"}};
  Session session = session_of_batch(subject, default_recipe(1));
  auto inputs = TextEncoder(PlanSet(std::make_shared<Plan>(session.plan()))).inputs_of({.text = "a"});
  ASSERT_FALSE(inputs);
  EXPECT_EQ(inputs.error().message,
            "input 'input_ids': the plan wants i64[2,9], and a text of 9 tokens is i64[1,9]: give it arrays instead");
}

}  // namespace
}  // namespace rung
