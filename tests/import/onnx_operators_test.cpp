// Operators of ONNX files that cannot be honoured: each is refused by its node, with what was got. What they compute is
// compared with ONNX Runtime in models/onnx_operators_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#include "import/huggingface_support.hpp"
#include "support/onnx_file.hpp"

namespace rung::onnx_file {
namespace {

using testing::HasSubstr;

std::string integer(const std::string& name, int64_t value) {
  return attribute(name, kIntKind, [&](pbf_writer& to) { to.add_int64(3, value); });
}
std::string word(const std::string& name, const std::string& value) {
  constexpr int32_t kStringKind = 3;
  return attribute(name, kStringKind, [&](pbf_writer& to) { to.add_string(4, value); });
}
std::string filled(const std::string& name, const std::vector<int64_t>& sizes, float value) {
  int64_t count = 1;
  for (const int64_t size : sizes) count *= size;
  return tensor(name, kFloat, sizes, raw(std::vector<float>(static_cast<size_t>(count), value)));
}

struct OnnxOperators : testing::Test {
  TemporaryDirectory directory;
  Graph graph{.inputs = {value("x", kFloat, {fixed(1), fixed(2), fixed(4)})}, .outputs = {value("y", kFloat, {})}};

  std::string refusal(const Node& one) {
    graph.nodes = {node(one)};
    return refusal();
  }
  std::string refusal() {
    directory.write("m.onnx", model(graph));
    return import_error(directory / "m.onnx");
  }
  Model imported() {
    directory.write("m.onnx", model(graph));
    return import_verified(directory / "m.onnx");
  }
};

TEST_F(OnnxOperators, RefusesEquationsThatDoNotFit) {
  const auto of = [&](const char* equation) { return refusal({"Einsum", {"x"}, {"y"}, {word("equation", equation)}}); };
  EXPECT_THAT(of("ij->i"), HasSubstr("node 'y' (Einsum): 'ij->i' for 3 axes"));
  EXPECT_THAT(of("iij->j"), HasSubstr("got axes 'iij', wanted a letter for each, none twice"));
  EXPECT_THAT(of("i1j->i"), HasSubstr("got axes 'i1j', wanted letters"));
  EXPECT_THAT(of("ijk->l"), HasSubstr("no operand has the result's axis 'l'"));
  EXPECT_THAT(of("ijk,i->j"), HasSubstr("'ijk,i->j' for 1 operands"));
  EXPECT_THAT(of(""), HasSubstr("'' for 3 axes"));
  EXPECT_EQ(of("ijk->kj"), "no error");
}

TEST_F(OnnxOperators, RefusesWindowsThatDoNotFit) {
  graph.initializers = {filled("w", {2, 2, 3}, 1), filled("wide", {2, 2, 5}, 1)};
  const auto of = [&](const char* weight, const Messages& attributes) {
    return refusal({"Conv", {"x", weight}, {"y"}, attributes});
  };
  EXPECT_THAT(of("wide", {}),
              HasSubstr("windows that reach over 5 elements of 4 with 0 before and 0 after: no window fits"));
  EXPECT_THAT(of("w", {integer("group", 2)}), HasSubstr("in 2 groups: channels do not fit"));
  EXPECT_THAT(of("w", {integers("strides", {0})}), HasSubstr("strides: got 0, wanted a number from 1"));
  EXPECT_THAT(of("w", {integers("dilations", {INT64_MAX})}), HasSubstr("dilations: got 9223372036854775807, wanted"));
  EXPECT_THAT(of("w", {integers("dilations", {INT64_MAX}), word("auto_pad", "SAME_UPPER")}),
              HasSubstr("dilations: got 9223372036854775807, wanted"));
  EXPECT_THAT(of("w", {integers("pads", {INT64_MAX, 1})}), HasSubstr("pads: got 9223372036854775807, wanted"));
  EXPECT_THAT(of("w", {integers("strides", {1, 1})}), HasSubstr("strides: got 2 numbers, wanted 1"));
  EXPECT_THAT(of("w", {word("auto_pad", "SAME")}), HasSubstr("auto_pad: got 'SAME', wanted NOTSET, VALID"));
}

TEST_F(OnnxOperators, RefusesAttentionsThatKeepStates) {
  graph.initializers = {filled("past", {1, 2, 0, 2}, 0)};
  const Messages heads{integer("num_heads", 2), integer("kv_num_heads", 2)};
  EXPECT_THAT(refusal({"GroupQueryAttention", {"x", "x", "x", "past", "past"}, {"y"}, heads, "com.microsoft"}),
              HasSubstr("node 'y' (com.microsoft.GroupQueryAttention): input 3: an attention with a cache"));
  EXPECT_THAT(refusal({"MultiHeadAttention", {"x", "x", "x", "", "", "", "past"}, {"y"}, heads, "com.microsoft"}),
              HasSubstr("input 6: an attention with a cache"));
  EXPECT_THAT(refusal({"MultiHeadAttention", {"x", "x", "x"}, {"y"}, {integer("num_heads", 3)}, "com.microsoft"}),
              HasSubstr("3 heads of f32[1,2,4]"));
  graph.initializers = {filled("packed", {1, 2, 2, 3, 2}, 1)};
  EXPECT_THAT(refusal({"MultiHeadAttention", {"packed", "x", "x"}, {"y"}, heads, "com.microsoft"}),
              HasSubstr("queries of f32[1,2,2,3,2] beside keys, wanted 3 axes"));
  EXPECT_THAT(refusal({"MultiHeadAttention", {"packed", "", "x"}, {"y"}, heads, "com.microsoft"}),
              HasSubstr("values beside packed queries"));
  EXPECT_THAT(refusal({"MultiHeadAttention", {"x", "packed"}, {"y"}, heads, "com.microsoft"}),
              HasSubstr("packed heads of f32[1,2,2,3,2], wanted [batch, tokens, 2, 2, size]"));
  EXPECT_THAT(refusal({"MultiHeadAttention", {"x", "packed", "", "x"}, {"y"}, heads, "com.microsoft"}),
              HasSubstr("a bias of packed keys"));
  EXPECT_THAT(refusal({"GroupQueryAttention", {"packed"}, {"y"}, heads, "com.microsoft"}),
              HasSubstr("2 heads that share 2 of keys in f32[1,2,2,3,2]"));
}

TEST_F(OnnxOperators, RefusesRotationsWiderThanHeads) {
  graph.initializers = {filled("table", {1, 2, 4}, 1)};
  graph.inputs = {value("x", kFloat, {fixed(1), fixed(1), fixed(2), fixed(4)})};
  EXPECT_THAT(refusal({"RotaryEmbedding", {"x", "table", "table"}, {"y"}}),
              HasSubstr("node 'y' (RotaryEmbedding): a rotation of f32[1,1,2,4] by f32[1,1,2,4]"));
}

TEST_F(OnnxOperators, RefusesResizesByUnknownRules) {
  graph.initializers = {tensor("sizes", kInt64, {3}, raw<int64_t>({1, 2, 8}))};
  const auto of = [&](const char* name, const char* rule) {
    return refusal({"Resize", {"x", "", "", "sizes"}, {"y"}, {word(name, rule)}});
  };
  EXPECT_THAT(of("mode", "lanczos"), HasSubstr("node 'y' (Resize): mode: 'lanczos' is not imported"));
  EXPECT_THAT(of("coordinate_transformation_mode", "tf_crop"), HasSubstr("'tf_crop'"));
  EXPECT_THAT(of("coordinate_transformation_mode", "tf_crop_and_resize"), HasSubstr("roi: got 0 numbers, wanted 6"));
  EXPECT_THAT(of("keep_aspect_ratio_policy", "fill"),
              HasSubstr("got 'fill', wanted stretch, not_larger or not_smaller"));
  EXPECT_THAT(refusal({"Resize", {"x", "", "", "sizes"}, {"y"}, {integer("antialias", 1)}}),
              HasSubstr("antialias of mode 'nearest'"));
  graph.initializers = {tensor("sizes", kInt64, {3}, raw<int64_t>({1, 2, int64_t{1} << 40}))};
  EXPECT_THAT(of("mode", "linear"), HasSubstr("a factor of"));
}

TEST_F(OnnxOperators, RefusesPatchesThatDoNotFit) {
  graph.initializers = {tensor("image", kInt64, {2}, raw<int64_t>({3, 3})),
                        tensor("block", kInt64, {2}, raw<int64_t>({2, 2})),
                        tensor("wide", kInt64, {2}, raw<int64_t>({2, 7})), tensor("none", kInt64, {0}, "")};
  const auto of = [&](const char* image, const char* block, const Messages& attributes = {}) {
    return refusal({"Col2Im", {"x", image, block}, {"y"}, attributes});
  };
  EXPECT_THAT(of("image", "block"), HasSubstr("windows of f32[1,2,4], wanted a multiple of 4 elements of 4 windows"));
  EXPECT_THAT(of("image", "wide"), HasSubstr("windows of 7 over an axis of 3"));
  EXPECT_THAT(of("image", "none"), HasSubstr("block_shape: got 0 numbers, wanted 2"));
  EXPECT_THAT(of("none", "none"), HasSubstr("an image of 0 axes, wanted one to three"));
  EXPECT_THAT(of("image", "block", {integers("strides", {0, 1})}), HasSubstr("strides: got 0, wanted a number from 1"));
  EXPECT_THAT(of("image", "block", {integers("pads", {INT64_MAX, 0, 0, 0})}),
              HasSubstr("pads: got 9223372036854775807"));
}

TEST_F(OnnxOperators, RefusesAlignedCornersOfFractionalLengths) {
  const auto resize = [&](float factor) {
    graph.initializers = {filled("scales", {3}, factor)};
    graph.inputs = {value("x", kFloat, {fixed(4), fixed(4), fixed(4)})};
    return Node{"Resize", {"x", "", "scales"}, {"y"}, {word("coordinate_transformation_mode", "align_corners")}};
  };
  EXPECT_THAT(refusal(resize(0.6f)), HasSubstr("align_corners with a factor of 0.6"));
  graph.nodes = {node(resize(0.5f))};
  imported();
}

TEST_F(OnnxOperators, RefusesFewerListedValuesThanAnAbsurdSize) {
  graph.initializers = {tensor("w", kFloat, {int64_t{1} << 31}, "")};
  EXPECT_THAT(refusal({"Identity", {"w"}, {"y"}, {}}), HasSubstr("got 0 values for f32[2147483648]"));
}

TEST_F(OnnxOperators, RefusesRoundsThatInputsDecide) {
  const Graph body{.nodes = {node({"Identity", {"going"}, {"on"}}), node({"Neg", {"last"}, {"next"}})},
                   .inputs = {value("round", kInt64, {}), value("going", kBool, {}), value("last", kFloat, {})},
                   .outputs = {value("on", kBool, {}), value("next", kFloat, {})}};
  graph.inputs.push_back(value("n", kInt64, {}));
  graph.initializers = {truth("yes", 1), tensor("many", kInt64, {}, raw<int64_t>({int64_t{1} << 40}))};
  EXPECT_THAT(refusal({"Loop", {"n", "yes", "x"}, {"y"}, {branch("body", body)}}),
              HasSubstr("node 'y' (Loop): its number of rounds depends on the values of an input"));
  EXPECT_THAT(refusal({"Loop", {"many", "yes", "x"}, {"y"}, {branch("body", body)}}),
              HasSubstr("it runs more than 65536 rounds"));
  EXPECT_THAT(refusal({"Loop", {"", "yes", "x", "x"}, {"y"}, {branch("body", body)}}),
              HasSubstr("its body has 2 outputs, wanted at least 3"));
  EXPECT_THAT(refusal({"Scan", {"x"}, {"y"}, {branch("body", body), integer("num_scan_inputs", 2)}}),
              HasSubstr("node 'y' (Scan): got 2 scanned inputs of 1"));
}

TEST_F(OnnxOperators, RefusesSequencesWhereTensorsAreWanted) {
  graph.initializers = {tensor("far", kInt64, {}, raw<int64_t>({2})), truth("yes", 1)};
  const std::string none = node({"SequenceEmpty", {}, {"none"}}), one = node({"SequenceConstruct", {"x"}, {"one"}});
  const auto of = [&](const Node& last) {
    graph.nodes = {none, one, node(last)};
    return refusal();
  };
  EXPECT_THAT(of({"Neg", {"one"}, {"y"}}), HasSubstr("node 'y' (Neg): input 0: got a sequence, wanted a tensor"));
  EXPECT_THAT(of({"Concat", {"x", "one"}, {"y"}, {integer("axis", 0)}}), HasSubstr("input 1: got a sequence"));
  EXPECT_THAT(of({"SequenceAt", {"x", "far"}, {"y"}}), HasSubstr("input 0: got f32[1,2,4], wanted a sequence"));
  EXPECT_THAT(of({"SequenceAt", {"one", "far"}, {"y"}}), HasSubstr("node 'y' (SequenceAt): got place 2 of 1"));
  EXPECT_THAT(of({"SequenceAt", {"one", "one"}, {"y"}}), HasSubstr("input 1: got a sequence, wanted a tensor"));
  EXPECT_THAT(of({"SequenceInsert", {"one", "x", "far"}, {"y"}}), HasSubstr("got place 2 of 1"));
  EXPECT_THAT(of({"SequenceInsert", {"one", "none"}, {"y"}}), HasSubstr("input 1: got a sequence, wanted a tensor"));
  EXPECT_THAT(of({"SequenceErase", {"none"}, {"y"}}),
              HasSubstr("got an empty sequence, of which nothing can be erased"));
  EXPECT_THAT(of({"ConcatFromSequence", {"none"}, {"y"}, {integer("axis", 0)}}),
              HasSubstr("got an empty sequence, wanted tensors to join"));
  EXPECT_THAT(of({"SplitToSequence", {"x", "far"}, {"y"}, {integer("axis", 4)}}), HasSubstr("axis 4"));
  EXPECT_THAT(of({"Identity", {"one"}, {"y"}}), HasSubstr("output 'y': got a sequence, wanted a tensor"));
  EXPECT_THAT(of({"Reshape", {"none", "far"}, {"y"}}), HasSubstr("input 0: got a sequence, wanted a tensor"));
}

TEST_F(OnnxOperators, RefusesSequencesAsRowsOfLoops) {
  const Graph body{.nodes = {node({"Identity", {"going"}, {"on"}}), node({"SequenceConstruct", {"x"}, {"row"}})},
                   .inputs = {value("round", kInt64, {}), value("going", kBool, {})},
                   .outputs = {value("on", kBool, {}), value("row", kFloat, {})}};
  graph.initializers = {tensor("n", kInt64, {}, raw<int64_t>({2})), truth("yes", 1)};
  const std::string one = node({"SequenceConstruct", {"x"}, {"one"}});
  const auto of = [&](const Node& last) {
    graph.nodes = {one, node(last)};
    return refusal();
  };
  EXPECT_THAT(of({"Loop", {"n", "yes"}, {"y"}, {branch("body", body)}}),
              HasSubstr("a result of each round: got a sequence, wanted a tensor"));
  EXPECT_THAT(of({"Loop", {"one", "yes"}, {"y"}, {branch("body", body)}}),
              HasSubstr("its number of rounds: got a sequence, wanted a tensor"));
  EXPECT_THAT(of({"Loop", {"n", "one"}, {"y"}, {branch("body", body)}}),
              HasSubstr("its condition: got a sequence, wanted a tensor"));
  EXPECT_THAT(of({"Scan", {"one"}, {"y"}, {branch("body", body), integer("num_scan_inputs", 1)}}),
              HasSubstr("an input: got a sequence, wanted a tensor"));
  EXPECT_THAT(of({"If", {"one"}, {"y"}, {branch("then_branch", body)}}),
              HasSubstr("its condition: got a sequence, wanted a tensor"));
}

TEST_F(OnnxOperators, RefusesScalesThatDoNotFit) {
  graph.initializers = {filled("scales", {3}, 1)};
  EXPECT_THAT(refusal({"QuantizeLinear", {"x", "scales"}, {"y"}, {integer("axis", 2)}}),
              HasSubstr("node 'y' (QuantizeLinear): 3 scales for an axis of 4"));
}

// Weights that an exporter wrote once for each step; others of the same ends stay apart.
TEST_F(OnnxOperators, KeepsTensorsOfEqualBytesOnce) {
  std::vector<float> numbers(64 * 64);
  for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<float>(i);
  std::vector<float> others = numbers;
  others[numbers.size() / 2] = 7;
  const auto weight = [](const char* name, const std::vector<float>& values) {
    return tensor(name, kFloat, {64, 64}, raw(values));
  };
  graph.inputs = {value("x", kFloat, {fixed(1), fixed(64)})};
  graph.nodes = {node({"MatMul", {"x", "a"}, {"p"}}), node({"MatMul", {"p", "b"}, {"q"}}),
                 node({"MatMul", {"q", "c"}, {"y"}})};
  graph.initializers = {weight("a", numbers), weight("b", numbers), weight("c", others)};
  const Model model = imported();
  const auto is_weight = [&](NodeId id) { return model.graph[id].alive && model.graph.is_constant(id); };
  const auto order = model.graph.order();
  EXPECT_EQ(std::ranges::count_if(order, is_weight), 2);
}

// A row that an exporter wrote out is a broadcast again; rows that differ are not.
TEST_F(OnnxOperators, FindsRowsThatAreWrittenOut) {
  graph.nodes = {node({"Add", {"x", "rows"}, {"y"}})};
  graph.initializers = {tensor("rows", kFloat, {1, 2, 4}, raw<float>({1, 2, 3, 4, 1, 2, 3, 4}))};
  const auto broadcasts = [&] {
    const Model model = imported();
    const auto order = model.graph.order();
    return std::ranges::count_if(order, [&](NodeId id) { return model.graph.as<Broadcast>(id) != nullptr; });
  };
  EXPECT_EQ(broadcasts(), 1);
  graph.initializers = {tensor("rows", kFloat, {1, 2, 4}, raw<float>({1, 2, 3, 4, 1, 2, 3, 5}))};
  EXPECT_EQ(broadcasts(), 0);
}

}  // namespace
}  // namespace rung::onnx_file
