// Decoders whose caches are kept in 8 bits: a long text, token by token, through full caches and rings.
// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "import/decoder_support.hpp"
#include "plan/support.hpp"
#include "reference/sequence.hpp"
#include "support/temporary_directory.hpp"

namespace rung {
namespace {

constexpr int64_t kLongText = 300;

// The largest relative errors of the scores behind any token, as measured, and some more: `of_cache` of the evaluator
// whose caches are narrow against the one of f32, `of_plan` of the plan against the first.
struct CacheBound {
  const char* model;
  double of_cache, of_plan;
};

class NarrowCachesOf : public ::testing::TestWithParam<CacheBound> {};

Recipe with_caches_in(DType cache, Recipe recipe) {
  recipe.rungs.insert("precision");
  recipe.precision = {{.labels = "*", .cache = cache}};
  return recipe;
}

std::vector<NamedTensors> long_text() {
  std::vector<NamedTensors> runs;
  for (int64_t i = 0; i < kLongText; ++i) runs.push_back(run_of({(i * i * 5 + i) % 23}, 1));
  return runs;
}

std::vector<Tensor> scores_by_evaluator(const Graph& graph) {
  auto runs = evaluate_sequence(graph, long_text());
  EXPECT_TRUE(runs) << runs.error().message;
  std::vector<Tensor> all;
  for (SequenceRun& run : *runs) all.push_back(callers_outputs(graph, run.outputs)[0]);
  return all;
}

double largest_error_of_scores(const std::vector<Tensor>& got, const std::vector<Tensor>& wanted) {
  double largest = 0;
  for (size_t i = 0; i < wanted.size(); ++i) largest = std::max(largest, relative_error(got[i], wanted[i]));
  return largest;
}

// Copies a checkpoint, with as many positions as the text has.
void lengthen(const std::string& name, const TemporaryDirectory& to) {
  std::filesystem::copy(decoder_path(name), to.path(), std::filesystem::copy_options::recursive);
  std::ifstream file(decoder_path(name) + "/config.json");
  nlohmann::json config = nlohmann::json::parse(file);
  config["max_position_embeddings"] = kLongText;
  to.write("config.json", config.dump());
}

// On two threads, which share the keys of a head: the caches of windows begin again every few tokens, the others fill
// up.
TEST_P(NarrowCachesOf, DecodeALongText) {
  const auto& [name, of_cache, of_plan] = GetParam();
  const TemporaryDirectory directory;
  lengthen(name, directory);
  const Model model = import_verified(directory.path(), {.cache = {.length = kLongText}});
  const auto narrow = apply_passes(model.graph, with_caches_in(DType::f8e4m3fn, {}));
  ASSERT_TRUE(narrow) << narrow.error().message;
  size_t caches = 0;
  for (const State& state : narrow->states()) caches += is_f8(narrow->type(narrow->input_named(state.input)).dtype);
  EXPECT_EQ(caches, 4u) << "keys and values of two layers";
  const std::vector<Tensor> exact = scores_by_evaluator(model.graph), wanted = scores_by_evaluator(*narrow);
  Recipe recipe = with_caches_in(DType::f8e4m3fn, all_passes());
  recipe.threads = 2;
  Session session = session_over(plan_of(model.graph, recipe));
  std::vector<Tensor> got;
  for (const NamedTensors& run : long_text()) got.push_back(outputs_of(session, run).front().second);
  const double cost = largest_error_of_scores(wanted, exact), difference = largest_error_of_scores(got, wanted);
  fmt::print("{}: caches of f8e4m3fn move scores by {:.3g}, and the plan by {:.3g} more\n", name, cost, difference);
  EXPECT_GT(cost, 0);
  EXPECT_LE(cost, of_cache);
  EXPECT_LE(difference, of_plan);
}

INSTANTIATE_TEST_SUITE_P(Models, NarrowCachesOf,
                         ::testing::Values(CacheBound{"llama", 0.09, 1e-5}, CacheBound{"mistral", 0.2, 1e-5},
                                           CacheBound{"gemma3", 0.3, 1e-5}),
                         [](const auto& bound) { return std::string(bound.param.model); });

}  // namespace
}  // namespace rung
