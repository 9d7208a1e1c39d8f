// The whole pipeline on real architectures with random weights: same values, the expected ops, linear time.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <algorithm>
#include <set>

#include "base/random.hpp"
#include "import/model.hpp"
#include "passes/passes.hpp"
#include "passes/pipeline.hpp"
#include "passes/support.hpp"

namespace rung::test {
namespace {

constexpr const char* kPi0 =
    R"({"type": "pi0", "views": 2, "prompt": 6, "horizon": 5, "action_dim": 4, "steps": 3, "image": 28, "patch": 14,
  "vision": [2, 48, 80, 4], "prefix": [3, 64, 128, 4, 1, 16], "expert": [3, 32, 64, 4, 1, 16], "vocab": 128})";
constexpr const char* kBert =
    R"({"model_type": "bert", "vocab_size": 100, "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4,
  "intermediate_size": 64, "hidden_act": "gelu", "max_position_embeddings": 32, "type_vocab_size": 2, "layer_norm_eps": 1e-12})";
const std::set<std::string, std::less<>> kExact{"reduce", "attention", "projection", "fusion"};

const std::map<std::string, Shape> kThreeTexts{{"input_ids", Shape{3, 12}}};

Model model_of(std::string_view config, std::optional<DType> dtype = DType::f32,
               const std::map<std::string, Shape>& shapes = {}) {
  auto model = import_config_text(config, {.shapes = shapes, .random_seed = 7, .dtype = dtype});
  if (!model) ADD_FAILURE() << model.error().message;
  return model ? std::move(*model) : Model{};
}

PassReport run_all(Graph& graph, const PassOptions& options) {
  auto report = run_passes(graph, options);
  if (!report) ADD_FAILURE() << report.error().message;
  return report ? *report : PassReport{};
}

std::vector<std::string> all_notes(const PassReport& report) {
  std::vector<std::string> notes;
  for (const auto& row : report.rows) notes.insert(notes.end(), row.notes.begin(), row.notes.end());
  return notes;
}

Model masked_pi0() {
  Model model = model_of(kPi0);
  Tensor views({DType::boolean, {2}}), tokens({DType::boolean, {6}});
  views.as<bool>()[0] = true;
  for (size_t i = 0; i < 4; ++i) tokens.as<bool>()[i] = true;
  auto frozen = freeze_inputs(model, {{"image_mask", views}, {"token_mask", tokens}});
  if (!frozen) ADD_FAILURE() << frozen.error().message;
  return model;
}

TEST(Models, EveryRungAloneKeepsTheValues) {
  for (const char* config : {kPi0, kBert}) {
    Graph before = model_of(config).graph;
    for (const std::string& rung : kExact) {
      Graph after = before;
      run_all(after, {.rungs = {rung}});
      SCOPED_TRACE(rung);
      expect_same_values(before, after, 1e-5);
    }
  }
}
TEST(Models, EveryRungLeftOutKeepsTheValues) {
  for (const char* config : {kPi0, kBert}) {
    Graph before = model_of(config).graph;
    for (const std::string& rung : kExact) {
      Graph after = before;
      auto rungs = kExact;
      rungs.erase(rung);
      run_all(after, {.rungs = rungs});
      SCOPED_TRACE(rung);
      expect_same_values(before, after, 1e-5);
    }
  }
}
TEST(Models, EveryRungKeepsTheValuesOfABatch) {
  Graph before = model_of(kBert, DType::f32, kThreeTexts).graph;
  std::vector<std::set<std::string, std::less<>>> choices{kExact};
  for (const std::string& rung : kExact) {
    choices.push_back({rung});
    choices.push_back(kExact);
    choices.back().erase(rung);
  }
  for (const auto& rungs : choices) {
    Graph after = before;
    run_all(after, {.rungs = rungs});
    SCOPED_TRACE(fmt::format("{}", fmt::join(rungs, " ")));
    expect_same_values(before, after, 1e-5);
  }
}
TEST(Models, BertsBatchIsFusedAsOneTextIs) {
  Graph one = model_of(kBert).graph, batch = model_of(kBert, DType::f32, kThreeTexts).graph;
  run_all(one, {.rungs = kExact});
  run_all(batch, {.rungs = kExact});
  for (const char* op : {"attention", "linear", "layer_norm", "softmax", "matmul", "transpose", "gelu"})
    EXPECT_EQ(count_ops(batch, op), count_ops(one, op)) << op;
  EXPECT_EQ(count_ops(batch, "attention"), 2u);
}
// Frozen masks of two lengths: a token counts as padding where every row has it so.
TEST(Models, DropWhatNoRowReadsUnderFrozenMasks) {
  Model model = model_of(kBert, DType::f32, kThreeTexts);
  Tensor mask({DType::i64, {3, 12}});
  for (size_t i = 0; i < 36; ++i) mask.as<int64_t>()[i] = i % 12 < (i < 12 ? 3u : i < 24 ? 7u : 5u);
  ASSERT_TRUE(freeze_inputs(model, {{"attention_mask", mask}}));
  Graph before = model.graph, after = before;
  PassReport report = run_all(after, {.rungs = kExact});
  expect_same_values(before, after, 1e-5);
  EXPECT_THAT(all_notes(report), testing::Contains("2 attentions read 7 of 12 keys: the others are masked"));
}
TEST(Models, OfPi0GetOneOpPerAttention) {
  Graph before = model_of(kPi0).graph, after = before;
  run_all(after, {.rungs = kExact});
  expect_same_values(before, after, 1e-5);
  EXPECT_EQ(count_ops(after, "attention"),
            2u + 2u + 9u);  // one tower for both cameras; the last prefix layer needs none
  for (const char* gone : {"softmax", "matmul", "rsqrt", "conv", "gelu_tanh"})
    EXPECT_EQ(count_ops(after, gone), 0u) << gone;
}
TEST(Models, OfPi0RotateHeadsInTheirProjections) {
  for (std::optional<DType> dtype : {std::optional(DType::f32), std::optional<DType>()}) {  // none: each its own
    Graph graph = model_of(kPi0, dtype).graph;
    run_all(graph, {.rungs = kExact});
    EXPECT_EQ(count_ops(graph, "rope"), 0u);
  }
}
TEST(Models, OfBertGetFourProductsPerLayer) {
  Graph before = model_of(kBert).graph, after = before;
  run_all(after, {.rungs = kExact});
  expect_same_values(before, after, 1e-5);
  EXPECT_EQ(count_ops(after, "attention"), 2u);
  EXPECT_EQ(count_ops(after, "linear"), 2u * 4 + 1);  // and the pooler
  EXPECT_EQ(count_ops(after, "transpose"), 0u);
}
TEST(Models, FrozenMasksDropTheMaskedCameraAndPadding) {
  Graph before = masked_pi0().graph, after = before;
  PassReport report = run_all(after, {.rungs = kExact});
  expect_same_values(before, after, 1e-5);
  for (NodeId id : after.order()) EXPECT_EQ(after[id].label.find("camera.1"), std::string::npos) << after[id].label;
  EXPECT_THAT(all_notes(report), testing::IsSupersetOf({"of input 'images', 1 of 2 along axis 0 are read",
                                                        "of input 'tokens', 4 of 6 along axis 0 are read",
                                                        "2 attentions read 8 of 14 keys: the others are masked"}));
}
TEST(Models, MasksThatAreInputsDropNothing) {
  Graph graph = model_of(kPi0).graph;
  PassReport report = run_all(graph, {.rungs = {"reduce"}});
  EXPECT_THAT(all_notes(report), testing::Not(testing::Contains(testing::HasSubstr("masked"))));
}
TEST(Models, Bf16StaysCloseAndKeepsTheOutputsTypes) {
  for (const char* config : {kPi0, kBert}) {
    Graph before = model_of(config).graph, after = before;
    auto rungs = kExact;
    rungs.insert("precision");
    run_all(after, {.rungs = rungs, .precision = everywhere(DType::bf16)});
    expect_same_values(before, after, 2e-2);
  }
}
TEST(Models, Bf16AloneKeepsTheValuesToo) {
  for (const char* config : {kPi0, kBert}) {
    Graph before = model_of(config).graph, after = before;
    run_all(after, {.rungs = {"precision"}, .precision = everywhere(DType::bf16)});
    expect_same_values(before, after, 2e-2);
  }
}
// Entries for parts of the graph, drawn by a seed: each for the scope of some node, with any dtypes in any fields.
Precision mixed_precision(const Graph& graph, uint64_t seed) {
  const std::vector<NodeId> nodes = graph.order();
  const std::optional<DType> dtypes[] = {std::nullopt, DType::f32, DType::bf16};
  Precision precision;
  uint64_t drawn = 0;
  const auto draw = [&](size_t of) { return static_cast<size_t>(random_bits(seed, drawn++) % of); };
  while (precision.size() < 12) {
    std::string labels = graph[nodes[draw(nodes.size())]].label;
    if (const size_t dot = labels.rfind('.'); dot != std::string::npos && draw(2) == 0) labels.resize(dot);
    precision.push_back({labels, dtypes[draw(3)], dtypes[draw(3)], dtypes[draw(3)]});
  }
  return precision;
}
TEST(Models, StayCloseInAnyMixtureOfPrecision) {
  for (const char* config : {kPi0, kBert}) {
    const Graph before = model_of(config).graph;
    for (uint64_t seed = 0; seed < 20; ++seed) {
      SCOPED_TRACE(seed);
      auto rungs = seed % 2 == 0 ? kExact : std::set<std::string, std::less<>>{};
      rungs.insert("precision");
      Graph after = before;
      run_all(after, {.rungs = rungs, .precision = mixed_precision(before, seed)});
      expect_same_values(before, after, 2e-2);
    }
  }
}
TEST(Models, TheAuthorsOwnTypesGoThroughAllRungs) {
  Graph before = model_of(kPi0, std::nullopt).graph, after = before;
  run_all(after, {.rungs = kExact});
  expect_same_values(before, after, 2e-2);
}

// A full-size Pi0 with `steps` unrolled denoising steps.
Graph full_size_pi0(int steps) {
  return model_of(
             fmt::format(R"({{"type": "pi0", "views": 3, "prompt": 48, "horizon": 50, "action_dim": 32, "steps": {},
      "image": 224, "patch": 14, "vision": [27, 1152, 4304, 16], "prefix": [18, 2048, 16384, 8, 1, 256],
      "expert": [18, 1024, 4096, 8, 1, 256], "vocab": 257152}})",
                         steps),
             std::nullopt)
      .graph;
}

TEST(Models, OfPi0GrowEquallyWithEveryStep) {
  std::vector<size_t> before, after;
  for (int steps : {2, 6, 14}) {
    Graph graph = full_size_pi0(steps);
    before.push_back(graph.size());
    run_all(graph, {.rungs = kExact});
    after.push_back(graph.size());
  }
  EXPECT_GT(before[2], 20'000u);
  EXPECT_LT(after[2], before[2] / 2);
  EXPECT_EQ(before[2] - before[1], 2 * (before[1] - before[0]));
  EXPECT_EQ(after[2] - after[1], 2 * (after[1] - after[0]));
}

}  // namespace
}  // namespace rung::test
