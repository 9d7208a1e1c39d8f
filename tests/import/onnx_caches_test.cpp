// ONNX files with a decoder's caches, written by the test: how they become states, and what is refused.
// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "import/huggingface_support.hpp"
#include "reference/sequence.hpp"
#include "support/onnx_file.hpp"

namespace rung::onnx_file {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string axis(int64_t at) {
  return attribute("axis", kIntKind, [&](pbf_writer& to) { to.add_int64(3, at); });
}

// A cache of embeddings, whose sum over all tokens that the mask shows are the logits.
struct OnnxCaches : testing::Test {
  TemporaryDirectory directory;
  std::string path = directory / "m.onnx";
  Graph graph{
      .nodes = {node({"Gather", {"table", "input_ids"}, {"new"}}), node({"Reshape", {"new", "row"}, {"new_key"}}),
                node({"Concat", {"past_key_values.0.key", "new_key"}, {"present.0.key"}, {axis(2)}}),
                node({"Cast", {"attention_mask"}, {"shown"}, {type_float()}}),
                node({"MatMul", {"shown", "present.0.key"}, {"sum"}}),
                node({"Reshape", {"sum", "of_token"}, {"logits"}})},
      .initializers = {tensor("table", kFloat, {4, 2}, raw<float>({0, 0, 1, 10, 2, 20, 4, 40})),
                       tensor("row", kInt64, {4}, raw<int64_t>({1, 1, 1, 2})),
                       tensor("of_token", kInt64, {3}, raw<int64_t>({1, 1, 2}))},
      .inputs = {value("input_ids", kInt64, {open("batch"), open("sequence")}),
                 value("attention_mask", kInt64, {open("batch"), open("total")}),
                 value("past_key_values.0.key", kFloat, {open("batch"), fixed(1), open("past"), fixed(2)})},
      .outputs = {value("logits", kFloat, {}), value("present.0.key", kFloat, {})}};

  static std::string type_float() {
    return attribute("to", kIntKind, [](pbf_writer& to) { to.add_int64(3, kFloat); });
  }
  Model imported(int64_t length) {
    directory.write("m.onnx", model(graph));
    return import_verified(path, {.cache = {.length = length}});
  }
  std::string refusal(int64_t length = 4) {
    directory.write("m.onnx", model(graph));
    return import_error(path, {.cache = {.length = length}});
  }
};

TEST_F(OnnxCaches, HoldTheTokensOfEarlierRuns) {
  const Model decoder = imported(4);
  std::vector<NamedTensors> runs;
  for (const int64_t token : {1, 3, 2, 1})
    runs.push_back({{"input_ids", Tensor::of<int64_t>({1, 1}, {token})}, {"count", Tensor::of<int64_t>({1}, {1})}});
  const auto all = evaluate_sequence(decoder.graph, runs);
  ASSERT_TRUE(all) << all.error().message;
  std::vector<float> sums;
  for (const auto& run : *all) sums.push_back(run.outputs[0].as<float>()[1]);
  EXPECT_THAT(sums, ElementsAre(10, 50, 70, 80));
  EXPECT_EQ(all->front().outputs[0].type(), (Type{DType::f32, {1, 2}}));
  EXPECT_THAT(decoder.graph.states().size(), 2u) << "the position and the cache";
}

TEST_F(OnnxCaches, AreRefusedWhereTheyAreNotUnderstood) {
  EXPECT_THAT(refusal(1), HasSubstr("a cache of 1 tokens: wanted at least 2"));
  graph.inputs.push_back(value("encoder_hidden_states", kFloat, {fixed(1)}));
  EXPECT_THAT(refusal(), HasSubstr("input 'encoder_hidden_states' is not understood beside caches"));
  graph.inputs.pop_back();
  graph.outputs.pop_back();
  EXPECT_THAT(refusal(), HasSubstr("there is no output 'present.0.key' that it becomes"));
}

TEST_F(OnnxCaches, AreRefusedWhereNothingHidesEmptyPlaces) {
  graph.nodes[3] = node({"Cast", {"input_ids"}, {"shown"}, {type_float()}});
  graph.inputs.erase(graph.inputs.begin() + 1);
  EXPECT_THAT(refusal(), HasSubstr("no input 'attention_mask' that hides places without a token"));
}

TEST_F(OnnxCaches, AreRefusedOfAFixedLength) {
  graph.inputs[2] = value("past_key_values.0.key", kFloat, {open("batch"), fixed(1), fixed(7), fixed(2)});
  EXPECT_THAT(refusal(), HasSubstr("its axis 2 is of 7 in the file, wanted an open size, to be 3"));
}

TEST_F(OnnxCaches, AreRefusedWhereTheyAreJoinedOtherwise) {
  graph.nodes[2] = node({"Concat", {"past_key_values.0.key", "new_key"}, {"present.0.key"}, {axis(1)}});
  EXPECT_THAT(refusal(), HasSubstr("is joined along axis 1 with f32[1,1,1,2], wanted axis 2"));
  graph.nodes[2] = node({"Concat", {"new_key", "past_key_values.0.key"}, {"present.0.key"}, {axis(2)}});
  EXPECT_THAT(refusal(),
              HasSubstr("output 'present.0.key' is not 'past_key_values.0.key' joined with the token's own"));
}

// The first row of the past is no longer the first token's once the cache has places that hold nothing.
TEST_F(OnnxCaches, AreRefusedWhereThePastIsReadAlone) {
  graph.nodes.push_back(node({"Neg", {"past_key_values.0.key"}, {"other"}}));
  graph.outputs.push_back(value("other", kFloat, {}));
  EXPECT_THAT(refusal(), HasSubstr("'past_key_values.0.key' is read otherwise than to be joined"));
}

}  // namespace
}  // namespace rung::onnx_file
