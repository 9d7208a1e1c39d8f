// ONNX files, written by the test: what is read of them, and what is refused.
// SPDX-License-Identifier: Apache-2.0
#include <filesystem>

#include "import/huggingface_support.hpp"
#include "support/onnx_file.hpp"

namespace rung::onnx_file {
namespace {

using testing::HasSubstr;

// y = x + w, with x of two numbers and w = {1, 2}; tests change what they are about.
struct OnnxFile : testing::Test {
  TemporaryDirectory directory;
  std::string path = directory / "m.onnx";
  Graph graph{.nodes = {node({"Add", {"x", "w"}, {"y"}})},
              .initializers = {floats("w", {1, 2})},
              .inputs = {value("x", kFloat, {fixed(2)})},
              .outputs = {value("y", kFloat, {})}};
  std::vector<Function> functions;

  void write() { directory.write("m.onnx", model(graph, functions)); }
  std::vector<float> answer(const std::vector<float>& x = {10, 20}, const ImportOptions& options = {}) {
    write();
    const Model read = import_verified(path, options);
    const auto outputs = evaluate(read.graph, {{"x", Tensor::of<float>({static_cast<int64_t>(x.size())}, x)}});
    EXPECT_TRUE(outputs) << outputs.error().message;
    if (!outputs) return {};
    return {outputs->at(0).as<float>().begin(), outputs->at(0).as<float>().end()};
  }
  std::string refusal(const ImportOptions& options = {}) {
    write();
    return import_error(path, options);
  }
};

TEST_F(OnnxFile, AddsAnInitializerToAnInput) {
  EXPECT_EQ(answer(), (std::vector<float>{11, 22}));
  EXPECT_EQ(import_verified(path).defaults.at("x").type, (Type{DType::f32, {2}}));
}

TEST_F(OnnxFile, ReadsValuesBesideTheModel) {
  directory.write("w.bin", raw<float>({7, 3, 4, 7}));
  graph.initializers = {external("w", {{"location", "w.bin"}, {"offset", "4"}, {"length", "8"}})};
  EXPECT_EQ(answer(), (std::vector<float>{13, 24}));
  graph.initializers = {external("w", {{"location", "w.bin"}, {"offset", "12"}, {"length", "8"}})};
  EXPECT_THAT(refusal(), HasSubstr("tensor 'w': got 8 bytes from 12 of 'w.bin', which has 16"));
}

TEST_F(OnnxFile, RefusesValuesOutsideItsFolder) {
  const std::string outside = directory.write("w.bin", raw<float>({3, 4}));
  for (const std::string& location : {outside, std::string("../w.bin"), std::string("a/../../w.bin")}) {
    graph.initializers = {external("w", {{"location", location}})};
    EXPECT_THAT(refusal(), HasSubstr("its values lie in '" + location + "', wanted a file in the model's folder"));
  }
}

TEST_F(OnnxFile, RefusesValuesBehindALink) {
  const TemporaryDirectory elsewhere;
  elsewhere.write("w.bin", raw<float>({3, 4}));
  std::filesystem::create_symlink(elsewhere / "w.bin", directory / "w.bin");
  std::filesystem::create_directory_symlink(elsewhere.path(), directory / "folder");
  for (const char* location : {"w.bin", "folder/w.bin"}) {
    graph.initializers = {external("w", {{"location", location}})};
    EXPECT_THAT(refusal(), HasSubstr("its values lie behind the link '")) << location;
  }
}

TEST_F(OnnxFile, TakesDoublesThatFloatsHold) {
  graph.initializers = {tensor("w", kDouble, {2}, raw<double>({0.5, 2}))};
  EXPECT_EQ(answer(), (std::vector<float>{10.5F, 22}));
  graph.initializers = {tensor("w", kDouble, {2}, raw<double>({0.5, 0.1}))};
  EXPECT_THAT(refusal(), HasSubstr("tensor 'w': got 0.1, which f32 does not hold"));
}

TEST_F(OnnxFile, RefusesUnsignedNumbersBeyondSignedOnes) {
  graph.initializers = {tensor("w", kUint64, {2}, raw<uint64_t>({1, uint64_t{1} << 63}))};
  EXPECT_THAT(refusal(), HasSubstr("tensor 'w': got 9223372036854775808, which i64 does not hold"));
}

TEST_F(OnnxFile, RefusesBytesThatAreTooFew) {
  graph.initializers = {tensor("w", kFloat, {2}, raw<float>({1}))};
  EXPECT_THAT(refusal(), HasSubstr("tensor 'w': got 4 bytes for 2 elements of float, wanted 8"));
}

TEST_F(OnnxFile, GivesFunctionsTheirDefaults) {
  const std::string constant = node({"Constant", {}, {"c"}, {reference("value_float", kFloatKind, "by")}});
  functions = {{"Shift", {constant, node({"Add", {"x", "c"}, {"y"}})}, {number("by", 5)}}};
  graph.nodes = {node({"Shift", {"x"}, {"y"}, {}, "local"})};
  EXPECT_EQ(answer(), (std::vector<float>{15, 25}));
  graph.nodes = {node({"Shift", {"x"}, {"y"}, {number("by", 3)}, "local"})};
  EXPECT_EQ(answer(), (std::vector<float>{13, 23}));
}

TEST_F(OnnxFile, TellsOverloadsApart) {
  functions = {{"Turn", {node({"Identity", {"x"}, {"y"}})}, {}, "same"},
               {"Turn", {node({"Neg", {"x"}, {"y"}})}, {}, "minus"}};
  graph.nodes = {node({"Turn", {"x"}, {"y"}, {}, "local", "minus"})};
  EXPECT_EQ(answer(), (std::vector<float>{-10, -20}));
  graph.nodes = {node({"Turn", {"x"}, {"y"}, {}, "local", "other"})};
  EXPECT_THAT(refusal(), HasSubstr("node 'y' (local.Turn): there is no import of this operator"));
}

TEST_F(OnnxFile, RefusesFunctionsOfUnknownOpsets) {
  functions = {{"Turn", {node({"Neg", {"x"}, {"y"}})}, {}, "", 29}};
  graph.nodes = {node({"Turn", {"x"}, {"y"}, {}, "local"})};
  EXPECT_THAT(refusal(), HasSubstr("got opset 29, wanted 1 to 28"));
}

TEST_F(OnnxFile, RefusesFunctionsThatCallThemselves) {
  functions = {{"Turn", {node({"Turn", {"x"}, {"y"}, {}, "local"})}}};
  graph.nodes = functions[0].nodes;
  EXPECT_THAT(refusal(), HasSubstr("functions call each other more than 32 deep"));
}

TEST_F(OnnxFile, RefusesFunctionsThatMakeTooManyNodes) {
  const auto hundred = [](const std::string& op, const std::string& domain) {
    Messages nodes{node({op, {"x"}, {"y"}, {}, domain})};
    for (int i = 1; i < 100; ++i) nodes.push_back(node({op, {"x"}, {"y" + std::to_string(i)}, {}, domain}));
    return nodes;
  };
  functions = {
      {"One", hundred("Two", "local")}, {"Two", hundred("Three", "local")}, {"Three", hundred("Identity", "")}};
  graph.nodes = {node({"One", {"x"}, {"y"}, {}, "local"})};
  EXPECT_THAT(refusal(), HasSubstr("functions make more than 1000000 nodes"));
}

TEST_F(OnnxFile, TakesTheBranchOfAKnownCondition) {
  const Graph minus{{node({"Neg", {"x"}, {"z"}})}, {}, {}, {value("z", kFloat, {})}};
  const Graph shifted{{node({"Add", {"x", "w"}, {"z"}})}, {floats("w", {5, 6})}, {}, {value("z", kFloat, {})}};
  graph.nodes = {node({"If", {"c"}, {"y"}, {branch("then_branch", minus), branch("else_branch", shifted)}})};
  graph.initializers = {truth("c", 1), floats("w", {1, 2})};
  EXPECT_EQ(answer(), (std::vector<float>{-10, -20}));
  graph.initializers[0] = truth("c", 0);
  EXPECT_EQ(answer(), (std::vector<float>{15, 26})) << "the branch's w hides the outer one";
}

TEST_F(OnnxFile, RefusesConditionsThatInputsDecide) {
  const Graph same{{node({"Identity", {"x"}, {"z"}})}, {}, {}, {value("z", kFloat, {})}};
  graph.nodes = {node({"If", {"c"}, {"y"}, {branch("then_branch", same), branch("else_branch", same)}})};
  graph.inputs.push_back(value("c", kBool, {}));
  EXPECT_THAT(refusal(), HasSubstr("node 'y' (If): its condition depends on an input's values: freeze that input"));
}

TEST_F(OnnxFile, TakesOpenSizesFromShapesAndSymbols) {
  graph.inputs = {value("x", kFloat, {open("n")})};
  graph.nodes = {node({"Neg", {"x"}, {"y"}})};
  EXPECT_THAT(refusal(), HasSubstr("input 'x': its size n is open: give --shape x=... or --shape n=SIZE"));
  EXPECT_EQ(answer({1, 2, 3}, {.shapes = {{"x", Shape{3}}}}), (std::vector<float>{-1, -2, -3}));
  EXPECT_EQ(answer({1, 2, 3}, {.shapes = {{"n", Shape{3}}}}), (std::vector<float>{-1, -2, -3}));
  EXPECT_THAT(refusal({.shapes = {{"x", Shape{3, 1}}}}), HasSubstr("input 'x': got shape [3,1], wanted 1 axes"));
}

TEST_F(OnnxFile, RefusesShapesThatFixedSizesContradict) {
  EXPECT_THAT(refusal({.shapes = {{"x", Shape{3}}}}), HasSubstr("input 'x': got shape [3], wanted [2]"));
}

TEST_F(OnnxFile, RefusesTwoValuesOfOneName) {
  graph.nodes.push_back(node({"Neg", {"x"}, {"y"}}));
  EXPECT_THAT(refusal(), HasSubstr("two values are named 'y'"));
}

TEST_F(OnnxFile, RefusesNamesThatNothingComputes) {
  graph.nodes = {node({"Neg", {"later"}, {"y"}})};
  EXPECT_THAT(refusal(), HasSubstr("node 'y' (Neg): 'later' is read before it is computed"));
  graph.outputs = {value("z", kFloat, {})};
  graph.nodes = {node({"Neg", {"x"}, {"y"}})};
  EXPECT_THAT(refusal(), HasSubstr("output 'z' is not computed"));
}

TEST_F(OnnxFile, NamesUnknownOperatorsWithTheirNode) {
  graph.nodes = {node({"Fft", {"x"}, {"y"}, {}, "com.example", "", "/encoder/fft"})};
  EXPECT_THAT(refusal(),
              HasSubstr("'" + path + "': node '/encoder/fft' (com.example.Fft): there is no import of this operator"));
}

TEST_F(OnnxFile, SaysWhatDrawsRandomNumbers) {
  for (const char* drawing :
       {"Bernoulli", "Multinomial", "RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike"}) {
    graph.nodes = {node({drawing, {"x"}, {"y"}})};
    EXPECT_THAT(refusal(), HasSubstr(fmt::format("node 'y' ({}): it draws random numbers: make them an input of the "
                                                 "model",
                                                 drawing)));
  }
  graph.nodes = {node({"Bernoulli", {"x"}, {"y"}, {}, "com.example"})};
  EXPECT_THAT(refusal(), HasSubstr("there is no import of this operator"));
}

TEST_F(OnnxFile, RefusesTranspositionsOfTooManyAxes) {
  graph.nodes = {node({"Transpose", {"x"}, {"y"}, {integers("perm", {0, 1, 2, 3, 4, 5, 6, 7, 8})}})};
  EXPECT_THAT(refusal(), HasSubstr("node 'y' (Transpose): got 9 axes, wanted at most 8"));
}

TEST_F(OnnxFile, FillsTensorsWithTruthValues) {
  const auto filled = [](char byte) {
    const std::string one = tensor("one", kBool, {1}, {byte});
    const auto fill = [&](pbf_writer& to) { to.add_message(5, one); };
    return node({"ConstantOfShape", {"s"}, {"c"}, {attribute("value", kTensorKind, fill)}});
  };
  graph.initializers.push_back(tensor("s", kInt64, {1}, raw<int64_t>({2})));
  graph.nodes = {filled(1), node({"Where", {"c", "x", "w"}, {"y"}})};
  EXPECT_EQ(answer(), (std::vector<float>{10, 20}));
  graph.nodes[0] = filled(0);
  EXPECT_EQ(answer(), (std::vector<float>{1, 2}));
  graph.nodes[0] = filled(2);
  EXPECT_THAT(refusal(), HasSubstr("'one': got the byte 2 in bool[1], wanted 0 or 1"));
}

TEST_F(OnnxFile, FindsTheLeastOfExtremeIntegers) {
  const auto least = INT64_MIN;
  graph.initializers = {tensor("n", kInt64, {2}, raw<int64_t>({5, least})),
                        tensor("l", kInt64, {}, raw<int64_t>({least}))};
  graph.nodes = {node({"ReduceMin", {"n"}, {"m"}}), node({"Equal", {"m", "l"}, {"c"}}), node({"Neg", {"x"}, {"z"}}),
                 node({"Where", {"c", "x", "z"}, {"y"}})};
  EXPECT_EQ(answer(), (std::vector<float>{10, 20}));
}

TEST_F(OnnxFile, KeepsSoftplusFiniteForLargeNumbers) {
  graph.nodes = {node({"Softplus", {"x"}, {"y"}})};
  EXPECT_EQ(answer({1000, -1000}), (std::vector<float>{1000, 0}));
  graph.nodes = {node({"LogSoftmax", {"x"}, {"y"}})};
  EXPECT_EQ(answer({1000, -1000}), (std::vector<float>{0, -2000}));
}

TEST_F(OnnxFile, RefusesDropoutInTraining) {
  graph.initializers = {truth("training", 1)};
  graph.nodes = {node({"Dropout", {"x", "", "training"}, {"y"}})};
  EXPECT_THAT(refusal(), HasSubstr("node 'y' (Dropout): dropout in training, wanted a model in eval mode"));
  graph.initializers = {truth("training", 0)};
  EXPECT_EQ(answer(), (std::vector<float>{10, 20}));
}

TEST_F(OnnxFile, ComputesNoMeanOfSkippedNorms) {
  graph.nodes = {node({"SkipLayerNormalization", {"x", "x", "w"}, {"z", "mean", "", "y"}, {}, "com.microsoft"})};
  EXPECT_EQ(answer(), (std::vector<float>{20, 40})) << "the fourth result is the sum";
  graph.outputs = {value("mean", kFloat, {})};
  EXPECT_THAT(refusal(), HasSubstr("output 'mean' is not computed"));
}

TEST_F(OnnxFile, RefusesAttributesOfTheWrongKind) {
  const auto axis = attribute("axis", kIntKind, [](pbf_writer& to) { to.add_int64(3, 0); });
  graph.nodes = {node({"Softmax", {"x"}, {"y"}, {axis}})};
  EXPECT_EQ(refusal(), "no error");
  graph.nodes = {node({"Softmax", {"x"}, {"y"}, {integers("axis", {0})}})};
  EXPECT_THAT(refusal(), HasSubstr("node 'y' (Softmax): attribute 'axis': got kind 7, wanted 2"));
}

TEST_F(OnnxFile, RefusesFieldsOfAnotherWireType) {
  for (const char* bytes :
       {"\x38\x01", "\x3d\x01\x02\x03\x04", "\x0a\x01x"}) {  // a number as the graph, a string as a version
    directory.write("m.onnx", model(graph, functions) + bytes);
    const bool is_version = bytes[0] == '\x0a';  // which nothing reads
    EXPECT_THAT(import_error(path), is_version ? HasSubstr("no error") : HasSubstr("got field 7 of wire type"));
  }
}

TEST_F(OnnxFile, RefusesDamagedFilesWithoutCrashing) {
  const std::string whole = model(graph, functions);
  for (size_t length = 0; length < whole.size(); length += 37) {
    directory.write("m.onnx", whole.substr(0, length));
    EXPECT_NE(import_error(path), "no error") << length;
  }
  directory.write("m.onnx", "text");
  EXPECT_THAT(import_error(path), HasSubstr("'" + path + "': got bytes that are no ONNX model: "));
}

}  // namespace
}  // namespace rung::onnx_file
