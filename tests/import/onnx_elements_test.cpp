// Elements of ONNX files of types that tensors do not have: another type carries them, with their own arithmetic.
// SPDX-License-Identifier: Apache-2.0
#include "import/huggingface_support.hpp"
#include "reference/evaluate.hpp"
#include "support/onnx_file.hpp"

namespace rung::onnx_file {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr int32_t kUint16 = 4, kUint32 = 12, kUint4 = 21;

struct OnnxElements : testing::Test {
  TemporaryDirectory directory;

  std::string written(const Graph& graph) {
    directory.write("m.onnx", model(graph));
    return directory / "m.onnx";
  }
  static Graph of_two(int32_t type, const Node& one, int32_t result) {
    return {.nodes = {node(one)},
            .inputs = {value("a", type, {fixed(2)}), value("b", type, {fixed(2)})},
            .outputs = {value("y", result, {})}};
  }
  template <class T>
  std::vector<T> run(const Graph& graph, const std::vector<T>& a, const std::vector<T>& b) {
    const Model model = import_verified(written(graph));
    const auto results = evaluate(model.graph, {{"a", Tensor::of<T>({2}, a)}, {"b", Tensor::of<T>({2}, b)}});
    EXPECT_TRUE(results) << results.error().message;
    return {(*results)[0].template as<T>().begin(), (*results)[0].template as<T>().end()};
  }
};

TEST_F(OnnxElements, WrapAroundWithinTheirType) {
  const auto sum = of_two(kUint16, {"Add", {"a", "b"}, {"y"}, {}}, kUint16);
  EXPECT_THAT(run<int32_t>(sum, {65535, 1}, {2, 2}), ElementsAre(1, 3));
  const auto rest = of_two(kUint32, {"Sub", {"a", "b"}, {"y"}, {}}, kUint32);
  EXPECT_THAT(run<int64_t>(rest, {1, 5}, {2, 2}), ElementsAre(4294967295, 3));
}

TEST_F(OnnxElements, RefusesTheOrderOfComputedUint64) {
  Graph graph = of_two(kUint64, {"Sub", {"a", "b"}, {"d"}, {}}, kBool);
  graph.nodes.push_back(node({"Less", {"d", "b"}, {"y"}, {}}));
  EXPECT_THAT(import_error(written(graph)), HasSubstr("node 'y' (Less): computed numbers of uint64"));
}

TEST_F(OnnxElements, RefusesOperatorsWithoutARule) {
  const auto sine = of_two(kUint16, {"Softsign", {"a"}, {"y"}, {}}, kUint16);
  EXPECT_THAT(import_error(written(sine)), HasSubstr("(Softsign)"));
}

TEST_F(OnnxElements, UnpackTwoNumbersOfFourBits) {
  Graph graph{.nodes = {node({"Identity", {"w"}, {"y"}, {}})},
              .initializers = {tensor("w", kUint4, {3}, std::string("\x21\x0f", 2))},
              .outputs = {value("y", kUint4, {})}};
  const Model model = import_verified(written(graph));
  const auto results = evaluate(model.graph, {});
  ASSERT_TRUE(results) << results.error().message;
  EXPECT_THAT((*results)[0].as<uint8_t>(), ElementsAre(1, 2, 15));
}

TEST_F(OnnxElements, RefusesTooFewPackedBytes) {
  Graph graph{.nodes = {node({"Identity", {"w"}, {"y"}, {}})},
              .initializers = {tensor("w", kUint4, {5}, std::string("\x21\x0f", 2))},
              .outputs = {value("y", kUint4, {})}};
  EXPECT_THAT(import_error(written(graph)), HasSubstr("got 2 bytes for 5 elements of uint4, wanted 3"));
}

}  // namespace
}  // namespace rung::onnx_file
