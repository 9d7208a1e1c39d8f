// narrow_caches: which caches are kept in 8 bits, and what reads them then.
// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "passes/passes.hpp"
#include "passes/support.hpp"

namespace rung::test {
namespace {

using passes::narrow_caches;

const std::string kCacheRows =
    "q: f32[1,1,2,4] = input()\nk_row: f32[1,1,4] = input()\nv_row: f32[1,1,4] = input()\nat: i64[1] = input()\n"
    "length: i64[1] = input()\nk: f32[3,1,4] = input()\nvs: f32[3,1,4] = input()\n"
    "k_next = scatter(k, at, k_row)\nv_next = scatter(vs, at, v_row)\n"
    "k_heads = reshape(k_next, shape=[1,3,1,4])\nv_heads = reshape(v_next, shape=[1,3,1,4])\n";
const std::string kCacheStates =
    "\nstate k, next=k_next, initial=constant(values=[1,2,3,4,5,6,7,8,9,10,11,12])\n"
    "state vs, next=v_next, initial=constant(values=[9,8,7,6,5,4,3,2,1,0,1,2])\nreturn y=y, k_next=k_next, "
    "v_next=v_next";
const std::string kCacheAttention = "y = attention(q, length, k_heads, v_heads, slots=length)  # layers.0.attn";
std::string cache_layer(const std::string& readers = kCacheAttention) { return kCacheRows + readers + kCacheStates; }

Precision caches_in(DType cache, const std::string& labels = "*") { return {{.labels = labels, .cache = cache}}; }
PassRun with_narrow_caches(const std::string& text, const Precision& precision = caches_in(DType::f8e4m3fn),
                           const KernelQuery& has_kernel = {}) {
  return run_pass(narrow_caches, graph_of(text), has_kernel, precision);
}
void expect_caches_as_they_are(const std::string& text, const Precision& precision = caches_in(DType::f8e4m3fn)) {
  const PassRun run = with_narrow_caches(text, precision);
  EXPECT_EQ(expression(run.graph), expression(graph_of(text))) << text;
  for (const char* state : {"k", "vs"})
    EXPECT_EQ(run.graph.type(run.graph.input_named(state)).dtype, DType::f32) << text;
}

std::vector<float> answers_of_five_tokens(const Graph& graph) {
  std::vector<NamedTensors> runs;
  for (int64_t token : {0, 1, 2, 3, 4}) {
    std::vector<float> x;
    for (int i = 0; i < 16; ++i) x.push_back(3 * std::sin(static_cast<float>(i * i + 7 * token)));
    const auto part = [&](size_t begin, size_t count) { return std::span(x).subspan(begin, count); };
    const auto tensor = [&](Shape shape, std::span<const float> of) {
      return Tensor::of<float>(shape, std::vector<float>(of.begin(), of.end()));
    };
    runs.push_back({{"q", tensor({1, 1, 2, 4}, part(0, 8))},
                    {"k_row", tensor({1, 1, 4}, part(8, 4))},
                    {"v_row", tensor({1, 1, 4}, part(12, 4))},
                    {"at", Tensor::of<int64_t>({1}, {token % 3})},
                    {"length", Tensor::of<int64_t>({1}, {token + 1})}});
  }
  return answers_of(graph, runs);
}

TEST(NarrowCaches, RoundsRowsAsTheyAreStored) {
  const PassRun run = with_narrow_caches(cache_layer());
  EXPECT_EQ(expression(run.graph),
            "y = attention(q, length, reshape(scatter(k, at, cast(k_row, to=f8e4m3fn)), shape=[1,3,1,4]), "
            "reshape(scatter(vs, at, cast(v_row, to=f8e4m3fn)), shape=[1,3,1,4]), slots=length); "
            "k_next = scatter(k, at, cast(k_row, to=f8e4m3fn)); v_next = scatter(vs, at, cast(v_row, to=f8e4m3fn))");
  EXPECT_EQ(run.graph.type(run.graph.input_named("k")), (Type{DType::f8e4m3fn, {3, 1, 4}}));
  EXPECT_EQ(run.graph.states()[0].initial->type(), (Type{DType::f8e4m3fn, {3, 1, 4}}));
  EXPECT_THAT(run.notes, testing::ElementsAre("2 caches are kept in 8 bits"));
}

// A number of e4m3 errs by a sixteenth of itself at most; values are means of those.
TEST(NarrowCaches, GivesWhatRoundedKeysAndValuesGive) {
  const auto exact = answers_of_five_tokens(graph_of(cache_layer())),
             got = answers_of_five_tokens(with_narrow_caches(cache_layer()).graph);
  ASSERT_EQ(got.size(), exact.size());
  double error = 0, size = 0;
  for (size_t i = 0; i < got.size(); ++i) {
    error += std::pow(got[i] - exact[i], 2), size += std::pow(exact[i], 2);
    EXPECT_TRUE(std::isfinite(got[i]));
  }
  EXPECT_GT(error, 0);
  EXPECT_LT(std::sqrt(error / size), 0.08);
}

// An attention that is not fused reads the rounded numbers, as the fused one does: it says what they cost.
TEST(NarrowCaches, IsReadWideByProducts) {
  const std::string apart =
      "s = softmax(matmul(transpose(q, permutation=[0,2,1,3]), mul(transpose(k_heads, permutation=[0,2,3,1]), "
      "two:f32[1,1,4,1])), axis=3)\ny = matmul(s, transpose(v_heads, permutation=[0,2,1,3]))";
  const PassRun run = with_narrow_caches(cache_layer(apart));
  EXPECT_EQ(run.graph.type(run.graph.input_named("vs")).dtype, DType::f8e4m3fn);
  EXPECT_THAT(expression(run.graph), testing::HasSubstr("reshape(cast(scatter(vs, at, cast(v_row, to=f8e4m3fn))), "
                                                        "shape=[1,3,1,4])"));
}

TEST(NarrowCaches, AreAskedForByLabelsOfAttention) {
  EXPECT_EQ(with_narrow_caches(cache_layer(), caches_in(DType::f8e4m3fn, "layers.0")).notes.size(), 1u);
  expect_caches_as_they_are(cache_layer(), caches_in(DType::f8e4m3fn, "layers.1"));
  expect_caches_as_they_are(cache_layer(), {});
  Precision back = caches_in(DType::f8e4m3fn);
  back.push_back({.labels = "layers.0.attn", .cache = DType::f32});
  expect_caches_as_they_are(cache_layer(), back);
}

TEST(NarrowCaches, LeavesWhatOthersRead) {
  for (const char* readers :
       {"a = attention(q, length, k_heads, v_heads, slots=length)\ny = add(a, slice(k_heads, axis=1, end=1))",
        "a = attention(q, length, k_heads, v_heads, slots=length)\nm = reshape(reduce(v_next, kind=sum, axis=0), "
        "shape=[1,1,1,4])\ny = add(a, m)",
        "y = attention(k_heads, k_heads, v_heads)", "y = attention(q, k_heads, v_heads, k_heads, v_heads, segments=2)"})
    expect_caches_as_they_are(cache_layer(readers));
}

TEST(NarrowCaches, LeavesBothWhereOneIsNoCache) {
  expect_caches_as_they_are(
      cache_layer("m = reshape(reduce(v_next, kind=sum, axis=0), shape=[1,1,1,4])\n"
                  "a = attention(q, length, k_heads, v_heads, slots=length)\ny = add(a, m)"));
}

TEST(NarrowCaches, WantsAKernelThatReadsThem) {
  const auto none = [](const Op& op, std::span<const Type> types) {
    return as<Attention>(op) && is_f8(types.back().dtype) ? reject("keys of 8 bits") : accept();
  };
  const PassRun run = with_narrow_caches(cache_layer(), caches_in(DType::f8e4m3fn), none);
  EXPECT_EQ(expression(run.graph), expression(graph_of(cache_layer())));
  EXPECT_THAT(run.notes, testing::ElementsAre("a cache is not kept in 8 bits: keys of 8 bits"));
}

}  // namespace
}  // namespace rung::test
