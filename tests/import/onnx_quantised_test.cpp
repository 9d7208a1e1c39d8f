// Operators of quantised ONNX files, and of those that ONNX Runtime optimised, that cannot be honoured: each is refused
// by its node, with what was got. What they compute is compared with ONNX Runtime in models/onnx_operators_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#include "import/huggingface_support.hpp"
#include "support/onnx_file.hpp"

namespace rung::onnx_file {
namespace {

using testing::HasSubstr;

constexpr int32_t kU8 = 2, kIntKind = 2, kStringKind = 3;
constexpr auto kContrib = "com.microsoft";

std::string whole(const std::string& name, int64_t value) {
  return attribute(name, kIntKind, [&](pbf_writer& to) { to.add_int64(3, value); });
}
std::string text(const std::string& name, const std::string& value) {
  return attribute(name, kStringKind, [&](pbf_writer& to) { to.add_string(4, value); });
}
std::string bytes(const std::string& name, const std::vector<int64_t>& sizes, uint8_t value = 1) {
  int64_t count = 1;
  for (const int64_t size : sizes) count *= size;
  return tensor(name, kU8, sizes, std::string(static_cast<size_t>(count), static_cast<char>(value)));
}
std::string ones(const std::string& name, int64_t count) {
  return tensor(name, kFloat, {count}, raw(std::vector<float>(static_cast<size_t>(count), 1)));
}

struct OnnxQuantised : testing::Test {
  TemporaryDirectory directory;
  Graph graph{.outputs = {value("y", kFloat, {})}};

  void give(int32_t type, const std::vector<int64_t>& sizes) {
    Messages extents;
    for (const int64_t size : sizes) extents.push_back(fixed(size));
    graph.inputs = {value("x", type, extents)};
  }
  std::string refusal(const std::string& op, const Names& inputs, const Messages& attributes = {},
                      const std::string& domain = kContrib) {
    graph.nodes = {node({op, inputs, {"y"}, attributes, domain})};
    directory.write("m.onnx", model(graph));
    return import_error(directory / "m.onnx");
  }
};

TEST_F(OnnxQuantised, RefusesConvolutionsThatDoNotFit) {
  give(kU8, {1, 4, 3, 3});
  graph.initializers = {bytes("w", {2, 4, 2, 2}),
                        bytes("zeros", {3}),
                        bytes("far", {2, 3, 2, 2}),
                        ones("s", 1),
                        ones("v", 3),
                        bytes("z", {})};
  const auto of = [&](const Names& inputs) { return refusal("ConvInteger", inputs, {}, ""); };
  EXPECT_THAT(of({"x", "far"}), HasSubstr("(ConvInteger): u8[1,4,3,3] with u8[2,3,2,2] in 1 groups: channels do not"));
  EXPECT_THAT(of({"x", "w", "zeros"}), HasSubstr("zero points of u8[3], wanted one number"));
  EXPECT_THAT(of({"x", "w", "", "zeros"}), HasSubstr("3 scales for an axis of 2"));
  EXPECT_THAT(of({"x", "s"}), HasSubstr("a product of f32[1]"));
  EXPECT_EQ(of({"x", "w"}), "no error");
  const auto linear = [&](const Names& inputs) { return refusal("QLinearConv", inputs, {}, ""); };
  EXPECT_THAT(linear({"x", "v", "z", "w", "s", "z", "s", "z"}), HasSubstr("input 1: got f32[3], wanted one number"));
  EXPECT_THAT(linear({"x", "s", "z", "w", "v", "z", "s", "z"}), HasSubstr("3 scales for an axis of 2"));
  EXPECT_EQ(linear({"x", "s", "z", "w", "s", "z", "s", "z"}), "no error");
}

// One channel of a window may have more terms than f32 adds up exactly.
TEST_F(OnnxQuantised, RefusesWindowsWhoseSumsAreInexact) {
  give(kU8, {1, 1, 300, 300});
  graph.initializers = {bytes("w", {1, 1, 260, 260}, 1), bytes("small", {1, 1, 250, 250}, 1)};
  EXPECT_THAT(refusal("ConvInteger", {"x", "w"}, {}, ""), HasSubstr("products of 67600 taps, whose sums f32 does not"));
  EXPECT_EQ(refusal("ConvInteger", {"x", "small"}, {}, ""), "no error");
}

TEST_F(OnnxQuantised, RefusesScalesByAxisOfFunctions) {
  give(kU8, {2, 3});
  graph.initializers = {ones("s", 1), ones("v", 3), bytes("z", {})};
  EXPECT_THAT(refusal("QLinearAdd", {"x", "v", "z", "x", "s", "z", "s", "z"}),
              HasSubstr("(com.microsoft.QLinearAdd): input 1: got f32[3], wanted one number"));
  EXPECT_THAT(refusal("QLinearSigmoid", {"x", "s", "z", "v", "z"}),
              HasSubstr("input 3: got f32[3], wanted one number"));
  EXPECT_THAT(refusal("QLinearConcat", {"s", "z", "x", "s"}, {whole("axis", 0)}),
              HasSubstr("got 4 inputs, wanted two and three for each part"));
  EXPECT_THAT(refusal("QLinearSoftmax", {"x", "s", "z", "s", "z"}), HasSubstr("attribute 'opset' is missing"));
}

TEST_F(OnnxQuantised, RefusesWeightsInBlocksThatDoNotFit) {
  give(kFloat, {2, 40});
  graph.initializers = {bytes("w", {6, 3, 8}), ones("s", 18), bytes("z", {12})};
  const auto of = [&](const Names& inputs, int64_t bits = 4, int64_t block = 16, const Messages& more = {}) {
    Messages all{whole("bits", bits), whole("block_size", block), whole("N", 6), whole("K", 40)};
    all.insert(all.end(), more.begin(), more.end());
    return refusal("MatMulNBits", inputs, all);
  };
  EXPECT_EQ(of({"x", "w", "s", "z"}, 4, 16, {whole("accuracy_level", 4)}), "no error");
  EXPECT_THAT(of({"x", "w", "s"}, 3), HasSubstr("(com.microsoft.MatMulNBits): bits: got 3, wanted 2, 4 or 8"));
  EXPECT_THAT(of({"x", "w", "s"}, 4, 24), HasSubstr("block_size: got 24, wanted a power of two from 16"));
  EXPECT_THAT(of({"x", "w", "s"}, 8), HasSubstr("input 1: got u8[6,3,8], wanted 288 elements"));
  EXPECT_THAT(of({"x", "s", "s"}), HasSubstr("input 1: got f32[18], wanted u8"));
  EXPECT_THAT(of({"x", "w", "z"}), HasSubstr("input 2: got u8[12], wanted 18 elements"));
  EXPECT_THAT(of({"x", "w", "s", "w"}), HasSubstr("input 3: got u8[6,3,8], wanted 12 elements"));
  EXPECT_THAT(of({"x", "w", "s", "", "z"}), HasSubstr("input 4: an order of columns (g_idx)"));
  EXPECT_THAT(of({"x", "w", "s"}, 4, 16, {whole("weight_prepacked", 1)}), HasSubstr("packed for one kind of GPU"));
  give(kU8, {6, 3, 8});
  EXPECT_THAT(of({"s", "x", "s"}), HasSubstr("input 1 depends on an input, wanted a weight of the file"));
}

TEST_F(OnnxQuantised, RefusesRowsAlongTheirBlocks) {
  give(kInt64, {2});
  graph.initializers = {bytes("w", {5, 16}), tensor("s", kFloat, {5, 2}, raw(std::vector<float>(10, 1))),
                        ones("v", 10)};
  const Messages bits{whole("bits", 4), whole("block_size", 16), whole("quantize_axis", 1), whole("gather_axis", 1)};
  EXPECT_THAT(refusal("GatherBlockQuantized", {"w", "x", "s"}, bits),
              HasSubstr("(com.microsoft.GatherBlockQuantized): rows along the axis 1 of the blocks"));
  graph.initializers.push_back(bytes("none", {5, 0}));
  EXPECT_THAT(refusal("GatherBlockQuantized", {"w", "x", "v"}, bits), HasSubstr("input 2: rows of f32[10]"));
  EXPECT_THAT(refusal("GatherBlockQuantized", {"none", "x", "s"}, bits), HasSubstr("input 0: rows of u8[5,0]"));
  EXPECT_THAT(refusal("GatherBlockQuantized", {"w", "x", "s", "none"}, bits), HasSubstr("input 3: rows of u8[5,0]"));
}

TEST_F(OnnxQuantised, RefusesUnknownFusedActivations) {
  give(kFloat, {1, 1, 3, 3});
  graph.initializers = {tensor("w", kFloat, {1, 1, 1, 1}, raw<float>({1}))};
  EXPECT_THAT(refusal("FusedConv", {"x", "w"}, {text("activation", "Snake")}),
              HasSubstr("(com.microsoft.FusedConv): activation 'Snake' is not imported"));
  EXPECT_THAT(refusal("FusedConv", {"x", "w"}, {text("activation", "Clip")}),
              HasSubstr("Clip with 0 parameters, wanted 2"));
  EXPECT_EQ(refusal("FusedConv", {"x", "w"}, {text("activation", "Relu")}), "no error");
}

TEST_F(OnnxQuantised, RefusesProjectedAttentionsThatKeepStates) {
  give(kFloat, {1, 2, 4});
  graph.initializers = {tensor("w", kFloat, {4, 12}, raw(std::vector<float>(48, 1))), bytes("lengths", {3}),
                        ones("past", 1), bytes("deep", {1, 1, 2, 2})};
  const auto of = [&](const Names& inputs, const Messages& more = {}) {
    Messages all{whole("num_heads", 2)};
    all.insert(all.end(), more.begin(), more.end());
    return refusal("Attention", inputs, all);
  };
  EXPECT_EQ(of({"x", "w"}), "no error");
  EXPECT_THAT(of({"x", "w", "", "", "past"}), HasSubstr("input 4: an attention with a cache"));
  EXPECT_THAT(of({"x", "w", "", "lengths"}), HasSubstr("lengths of u8[3] for 1 rows"));
  EXPECT_THAT(of({"x", "w", "", "deep"}), HasSubstr("a mask of u8[1,1,2,2], wanted one to three axes"));
  EXPECT_THAT(of({"x", "w"}, {whole("do_rotary", 1)}), HasSubstr("an attention that rotates"));
  EXPECT_THAT(of({"x", "w"}, {integers("qkv_hidden_sizes", {-4, -4, 20})}), HasSubstr("queries, keys and values of"));
  EXPECT_THAT(of({"x", "w"}, {integers("qkv_hidden_sizes", {4, 2, 6})}),
              HasSubstr("queries, keys and values of f32[1,2,12]"));
}

TEST_F(OnnxQuantised, RefusesNormsOfImagesThatDoNotFit) {
  give(kFloat, {1, 3, 3, 4});
  graph.initializers = {ones("c", 4), ones("d", 3), tensor("n", kFloat, {}, raw<float>({1}))};
  const Messages three{whole("groups", 3), whole("activation", 0)}, two{whole("groups", 2), whole("activation", 0)};
  EXPECT_EQ(refusal("GroupNorm", {"x", "c", "c"}, two), "no error");
  EXPECT_THAT(refusal("GroupNorm", {"x", "c", "c"}, three),
              HasSubstr("(com.microsoft.GroupNorm): 3 groups of f32[1,4,3,3]"));
  EXPECT_THAT(refusal("GroupNorm", {"x", "c", "c"}, {whole("groups", 2)}),
              HasSubstr("attribute 'activation' is missing"));
  EXPECT_THAT(refusal("SkipGroupNorm", {"x", "c", "c", "n"}, two), HasSubstr("f32[1,3,3,4] with f32[]"));
  EXPECT_THAT(refusal("BiasSplitGelu", {"d", "d"}), HasSubstr("halves of f32[3]"));
}

// Files that ONNX Runtime writes at its highest level fit one processor's vectors.
TEST_F(OnnxQuantised, SaysHowToSaveFilesOfOneProcessor) {
  give(kFloat, {1, 8, 3, 3});
  EXPECT_THAT(
      refusal("ReorderInput", {"x"}, {}, "com.microsoft.nchwc"),
      HasSubstr("(com.microsoft.nchwc.ReorderInput): ONNX Runtime wrote this file for one processor; save it at "
                "an optimisation level up to 'extended'"));
}

}  // namespace
}  // namespace rung::onnx_file
