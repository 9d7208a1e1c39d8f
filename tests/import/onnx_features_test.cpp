// Features, determinants, unpooling and weights that name floats in ONNX files: what cannot be honoured is refused.
// What they compute is compared with ONNX Runtime in models/onnx_operators_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#include "import/huggingface_support.hpp"
#include "support/onnx_file.hpp"

namespace rung::onnx_file {
namespace {

using testing::HasSubstr;

constexpr int32_t kUint8 = 2;

std::string one_integer(const std::string& name, int64_t value) {
  return attribute(name, kIntKind, [&](pbf_writer& to) { to.add_int64(3, value); });
}
std::string one_word(const std::string& name, const std::string& value) {
  constexpr int32_t kStringKind = 3;
  return attribute(name, kStringKind, [&](pbf_writer& to) { to.add_string(4, value); });
}

struct OnnxFeatures : testing::Test {
  TemporaryDirectory directory;
  Graph graph{.inputs = {value("x", kFloat, {fixed(2), fixed(3), fixed(4)}),
                         value("i", kInt64, {fixed(2), fixed(3), fixed(4)})},
              .outputs = {value("y", kFloat, {})}};

  std::string refusal(const Node& one) {
    graph.nodes = {node(one)};
    directory.write("m.onnx", model(graph));
    return import_error(directory / "m.onnx");
  }
};

TEST_F(OnnxFeatures, RefusesDeterminantsOfOtherMatrices) {
  EXPECT_THAT(refusal({"Det", {"x"}, {"y"}, {}}),
              HasSubstr("determinants of f32[2,3,4], wanted square matrices of 1 to 64 rows"));
}

TEST_F(OnnxFeatures, RefusesGramsThatDoNotFit) {
  const auto of = [&](const Messages& attributes, const char* mode = "TF") {
    Messages all{one_word("mode", mode), one_integer("min_gram_length", 1), one_integer("max_gram_length", 2),
                 one_integer("max_skip_count", 0)};
    all.insert(all.end(), attributes.begin(), attributes.end());
    graph.inputs = {value("x", kInt64, {fixed(9)})};
    return refusal({"TfIdfVectorizer", {"x"}, {"y"}, all});
  };
  const std::string counts = integers("ngram_counts", {0, 2}), pool = integers("pool_int64s", {5, 6, 7, 8}),
                    columns = integers("ngram_indexes", {0, 2, 1});
  EXPECT_EQ(of({counts, pool, columns}), "no error");
  EXPECT_THAT(of({counts, pool, columns}, "BM25"), HasSubstr("mode: got 'BM25', wanted TF, IDF or TFIDF"));
  EXPECT_THAT(of({counts, columns}), HasSubstr("n-grams of strings, wanted pool_int64s"));
  EXPECT_THAT(of({counts, pool, integers("ngram_indexes", {0, 2})}), HasSubstr("ngram_indexes: got 2, wanted one"));
  EXPECT_THAT(of({counts, pool, integers("ngram_indexes", {0, -2, 1})}), HasSubstr("ngram_indexes: got -2"));
  EXPECT_THAT(of({integers("ngram_counts", {0, 3}), pool, columns}),
              HasSubstr("got 3 to 4 of 4 numbers for n-grams of 2"));
  EXPECT_THAT(of({integers("ngram_counts", {-1}), pool, columns}), HasSubstr("got -1 to 4"));
  EXPECT_THAT(of({counts, pool, integers("ngram_indexes", {0, INT64_MAX - 1, 1})}), HasSubstr("n-grams in"));
}

TEST_F(OnnxFeatures, RefusesUnpoolingThatDoesNotFit) {
  graph.initializers = {tensor("less", kInt64, {3}, raw<int64_t>({2, 3, 7})),
                        tensor("flat", kInt64, {2}, raw<int64_t>({2, 7}))};
  const auto of = [&](const Messages& attributes, const char* size = "") {
    return refusal({"MaxUnpool", {"x", "i", size}, {"y"}, attributes});
  };
  const std::string window = integers("kernel_shape", {2}), stride = integers("strides", {2});
  EXPECT_EQ(of({window, stride}), "no error");
  EXPECT_THAT(of({window, stride}, "less"), HasSubstr("output_shape: got 7 along axis 2, wanted 8 or more"));
  EXPECT_THAT(of({window, stride}, "flat"), HasSubstr("a result of 2 axes"));
  EXPECT_THAT(of({integers("kernel_shape", {2, 2})}), HasSubstr("kernel_shape: got 2 numbers, wanted 1"));
  EXPECT_THAT(of({window, integers("strides", {INT64_MAX})}), HasSubstr("windows of 2 in steps of"));
  EXPECT_THAT(of({window, integers("pads", {4, 4})}), HasSubstr("-3 elements along axis 2"));
}

TEST_F(OnnxFeatures, RefusesNamedFloatsThatDoNotFit) {
  graph.inputs = {value("x", kFloat, {fixed(2), fixed(16)})};
  const auto of = [&](int64_t bytes, int64_t scales, int64_t kind, int64_t block = 16) {
    graph.initializers = {tensor("w", kUint8, {bytes}, raw(std::vector<uint8_t>(static_cast<size_t>(bytes)))),
                          tensor("s", kFloat, {scales}, raw(std::vector<float>(static_cast<size_t>(scales))))};
    return refusal(
        {"MatMulBnb4",
         {"x", "w", "s"},
         {"y"},
         {one_integer("K", 16), one_integer("N", 3), one_integer("block_size", block), one_integer("quant_type", kind)},
         "com.microsoft"});
  };
  EXPECT_EQ(of(24, 3, 1), "no error");
  EXPECT_THAT(of(23, 3, 1), HasSubstr("input 1: got u8[23], wanted 24 elements"));
  EXPECT_THAT(of(24, 2, 1), HasSubstr("input 2: got f32[2], wanted 3 elements"));
  EXPECT_THAT(of(24, 3, 2), HasSubstr("quant_type: got 2, wanted 0 or 1"));
  EXPECT_THAT(of(24, 3, 0, 24), HasSubstr("block_size: got 24"));
}

}  // namespace
}  // namespace rung::onnx_file
