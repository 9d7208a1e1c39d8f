// Sentence similarities of the real all-MiniLM-L6-v2, against the figures that its publishers print.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <numeric>

#include "api/text_inputs.hpp"
#include "open/recipe.hpp"
#include "open/subject.hpp"
#include "plan/build.hpp"
#include "session/session.hpp"
#include "text/tokenizer.hpp"

namespace rung {
namespace {

struct Pair {
  const char *first, *second;
  double similarity;
};

// The documentation of Sentence Transformers, pages "Quickstart" (the first three) and "Semantic Textual Similarity".
constexpr Pair kPublished[] = {
    {"The weather is lovely today.", "It's so sunny outside!", 0.6660},
    {"The weather is lovely today.", "He drove to the stadium.", 0.1046},
    {"It's so sunny outside!", "He drove to the stadium.", 0.1411},
    {"The new movie is awesome", "The dog plays in the garden", 0.0543},
    {"The new movie is awesome", "The new movie is so great", 0.8939},
    {"The new movie is awesome", "A woman watches TV", -0.0502},
    {"The cat sits outside", "The dog plays in the garden", 0.2838},
    {"The cat sits outside", "The new movie is so great", -0.0029},
    {"The cat sits outside", "A woman watches TV", 0.1310},
    {"A man is playing guitar", "The dog plays in the garden", 0.2277},
    {"A man is playing guitar", "The new movie is so great", -0.0136},
    {"A man is playing guitar", "A woman watches TV", -0.0327},
};

class PublishedSimilarities : public ::testing::Test {
 protected:
  void SetUp() override {
    const char* directory = std::getenv("RUNG_MODEL_DIR");
    if (!directory) GTEST_SKIP() << "RUNG_MODEL_DIR names no all-MiniLM-L6-v2";
    auto model = import_model(directory, {.shapes = {{"input_ids", Shape{1, 16}}}});
    ASSERT_TRUE(model) << model.error().message;
    auto texts = tokenizer_texts(directory);
    ASSERT_TRUE(texts) << texts.error().message;
    subject_ = {.model = std::move(*model), .reference = {}, .frozen = {}, .attachments = std::move(*texts)};
  }

  Session session_of(const Recipe& recipe) const {
    auto built = build_plan(subject_.model.graph, recipe);
    EXPECT_TRUE(built) << built.error().message;
    attach_model(built->plan, subject_);
    auto session =
        Session::create(std::make_shared<Plan>(std::move(built->plan)), std::make_shared<cpu::Team>(recipe.threads));
    EXPECT_TRUE(session) << session.error().message;
    return std::move(*session);
  }

  static Tensor embed(Session& session, const char* sentence) {
    auto inputs = TextEncoder(PlanSet(std::make_shared<Plan>(session.plan()))).inputs_of({.text = sentence});
    EXPECT_TRUE(inputs) << inputs.error().message;
    auto outputs = session.infer(inputs->inputs);
    EXPECT_TRUE(outputs) << outputs.error().message;
    for (const auto& [name, value] : *outputs)
      if (name == "sentence_embedding") return value;
    ADD_FAILURE() << "no sentence_embedding";
    return Tensor({DType::f32, {1}});
  }

  // Embeddings have length 1.
  static double similarity(const Tensor& a, const Tensor& b) {
    return std::inner_product(a.as<float>().begin(), a.as<float>().end(), b.as<float>().begin(), 0.0);
  }
  static void expect_published(Session session) {
    for (const Pair& pair : kPublished)
      EXPECT_NEAR(similarity(embed(session, pair.first), embed(session, pair.second)), pair.similarity, 1e-3)
          << pair.first << " / " << pair.second;
  }

 private:
  Subject subject_;
};

TEST_F(PublishedSimilarities, ComeFromTheUnfusedBaseline) { expect_published(session_of({})); }
TEST_F(PublishedSimilarities, ComeFromTheDefaultRecipe) { expect_published(session_of(default_recipe(2))); }

// The least similarity of a sentence's embeddings with and without a part of the precision. Products of i8 lose the
// small channels beside the few large ones that BERT's norms give; weights of i8 do not.
TEST_F(PublishedSimilarities, AreNearlyKeptByWeightsOfBytes) {
  const auto least = [&](const PartPrecision& part) {
    Recipe recipe = default_recipe(2);
    recipe.rungs.insert("precision");
    recipe.precision = {part};
    Session exact = session_of(default_recipe(2)), bytes = session_of(recipe);
    double lowest = 1;
    for (const Pair& pair : kPublished)
      for (const char* sentence : {pair.first, pair.second})
        lowest = std::min(lowest, similarity(embed(exact, sentence), embed(bytes, sentence)));
    return lowest;
  };
  const double of_weights = least({.weights = WeightForm{DType::i8}}), of_products = least({.products = DType::i8});
  EXPECT_GE(of_weights, 0.999);
  EXPECT_GE(of_products, 0.99);
  EXPECT_LT(of_weights, 1 - 1e-5) << "nothing is in 8 bits";
  EXPECT_LT(of_products, of_weights);
}

}  // namespace
}  // namespace rung
