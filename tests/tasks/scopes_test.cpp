// A model by its author's scopes: the launches of each, the ops that they took in, and what the scopes' names promise.
// SPDX-License-Identifier: Apache-2.0
#include "tasks/scopes.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <optional>

#include "ir/scope.hpp"
#include "open/open_model.hpp"
#include "open/recipe.hpp"
#include "support/bert_tiny.hpp"
#include "support/graphs.hpp"
#include "tasks/explain.hpp"
#include "tasks/promises.hpp"

namespace rung::tasks {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

const std::string kExported = std::string(RUNG_TEST_DATA) + "/exported/";

struct BuiltModel {
  Opened opened;
  Built built;
  const Graph& model() const { return opened.subject->model.graph; }
};

BuiltModel built_of(const std::string& path, bool as_written = false) {
  BuiltModel result;
  result.opened = *open_model({.path = path, .threads = 1, .random_weights = std::nullopt});
  Recipe recipe = *recipe_of(result.opened, std::nullopt, {.path = path, .threads = 1});
  if (as_written) recipe.rungs.clear();
  auto built = build_plan(result.model(), recipe, {.contents = false});
  EXPECT_TRUE(built) << built.error().message;
  result.built = std::move(*built);
  return result;
}

const Scope* scope_at(const Scope& scope, std::string_view path) {
  const Scope* at = &scope;
  while (!path.empty()) {
    const auto it = std::ranges::find(at->scopes, take_word(path), &Scope::name);
    if (it == at->scopes.end()) return nullptr;
    at = &*it;
  }
  return at;
}

std::vector<std::string> labels(const ScopedLaunch& launch) {
  std::vector<std::string> found;
  for (const ScopedOp& op : launch.took) found.push_back(op.label);
  return found;
}

TEST(Scopes, HoldEachLaunchOfThePlanOnce) {
  for (const std::string& path : {kBert, kExported + "llama.pt2", kExported + "t5_encoder.pt2"}) {
    const BuiltModel m = built_of(path);
    EXPECT_EQ(scopes_of(m.model(), m.built).all_launches(), m.built.plan.steps.size()) << path;
  }
}

TEST(Scopes, NameTheOpsThatALaunchTookIn) {
  const BuiltModel m = built_of(kExported + "llama.pt2");
  const Scope whole = scopes_of(m.model(), m.built);
  const Scope* mlp = scope_at(whole, "layers.0.mlp");
  ASSERT_NE(mlp, nullptr);
  ASSERT_THAT(mlp->launches, SizeIs(2));
  EXPECT_THAT(labels(mlp->launches[0]),
              ElementsAre("layers.0.mlp.gate_proj", HasSubstr("silu"), "layers.0.mlp.up_proj", HasSubstr("mlp.mul")));
  EXPECT_EQ(mlp->launches[1].took[0].label, "layers.0.mlp.down_proj");
  const Scope* attention = scope_at(whole, "layers.0.self_attn");
  ASSERT_NE(attention, nullptr);
  EXPECT_THAT(labels(attention->launches[0]), ElementsAre(EndsWith("q_proj"), EndsWith("k_proj"), EndsWith("v_proj")));
}

std::optional<Promise> promise_at(const std::vector<Promise>& promises, std::string_view scope) {
  const auto it = std::ranges::find(promises, scope, &Promise::scope);
  return it == promises.end() ? std::nullopt : std::optional(*it);
}

TEST(Promises, AreKeptByEveryAttentionNormAndProjection) {
  for (const char* name :
       {"bert", "llama", "gpt2", "siglip", "t5_encoder", "llama_decomposed", "modernbert", "phi", "qwen3"}) {
    const BuiltModel m = built_of(kExported + name + ".pt2");
    const auto promises = promises_of(m.model(), m.built);
    EXPECT_FALSE(promises.empty());
    for (const Promise& promise : promises)
      EXPECT_TRUE(promise.found) << name << ": " << promise.what << " " << promise.scope << " " << promise.by;
  }
}

TEST(Promises, OfGroupNormsAreKept) {
  const BuiltModel m = built_of(kExported + "diffusion_unet.pt2");
  size_t norms = 0;
  for (const Promise& promise : promises_of(m.model(), m.built)) {
    norms += promise.what == "norm";
    EXPECT_TRUE(promise.what != "norm" || promise.found) << promise.scope << " " << promise.by;
  }
  EXPECT_GT(norms, 0U);
}

TEST(Promises, OfNormsThatConvolutionsTookInAreKept) {
  const auto graph = parse_graph(
      "w: f32[4,3,3,3] = constant()\ns: f32[4] = constant()\n"
      "c = conv(x:f32[1,6,5,3], w, before=[1,1], after=[1,1])  # stem.conv\n"
      "y = mul(c, s)  # stem.normalization.mul\nreturn y=y");
  ASSERT_TRUE(graph) << graph.error().message;
  const auto built = build_plan(*graph, {.rungs = {"fusion"}, .threads = 1}, {.contents = false});
  ASSERT_TRUE(built) << built.error().message;
  const auto promises = promises_of(*graph, *built);
  ASSERT_THAT(promises, SizeIs(1));
  EXPECT_TRUE(promises[0].found) << promises[0].by;
}

TEST(Promises, OfOneLayerAreAllNamed) {
  const BuiltModel m = built_of(kExported + "llama.pt2");
  std::vector<std::string> first;
  for (const Promise& promise : promises_of(m.model(), m.built))
    if (promise.scope.starts_with("layers.0.")) first.push_back(promise.what + " " + promise.scope);
  EXPECT_THAT(first,
              ElementsAre("norm layers.0.input_layernorm", "attention layers.0.self_attn",
                          "one product layers.0.self_attn.{q_proj,k_proj,v_proj}",
                          "norm layers.0.post_attention_layernorm", "one product layers.0.mlp.{gate_proj,up_proj}"));
}

// One row of the queries is read: their product has one row, and is none with that of all keys and values.
TEST(Promises, OfFewQueriesAreOfKeysAndValues) {
  const auto graph = parse_graph(
      "wq: f32[8,8] = constant()\nwk: f32[8,8] = constant()\nwv: f32[8,8] = constant()\n"
      "q = linear(x:f32[1,5,8], wq)  # block.q_proj\n"
      "k = linear(x, wk)  # block.k_proj\nv = linear(x, wv)  # block.v_proj\n"
      "last = slice(q, axis=1, begin=4, end=5)  # block.last\n"
      "y = add(mul(last, k), v)  # block.y\nreturn y=y");
  ASSERT_TRUE(graph) << graph.error().message;
  const auto built = build_plan(*graph, {.rungs = {"projection", "reduce"}, .threads = 1}, {.contents = false});
  ASSERT_TRUE(built) << built.error().message;
  const auto promises = promises_of(*graph, *built);
  ASSERT_THAT(promises, SizeIs(1));
  EXPECT_EQ(promises[0].scope, "block.{k_proj,v_proj}");
  EXPECT_TRUE(promises[0].found) << promises[0].by;
}

TEST(Promises, AreBrokenWithoutTheRungs) {
  const BuiltModel m = built_of(kBert, true);
  const auto promises = promises_of(m.model(), m.built);
  const auto attention = promise_at(promises, "encoder.layer.0.attention");
  ASSERT_TRUE(attention);
  EXPECT_FALSE(attention->found);
  EXPECT_THAT(attention->by, HasSubstr("softmax"));
  const auto product = promise_at(promises, "encoder.layer.0.attention.self.{query,key,value}");
  ASSERT_TRUE(product);
  EXPECT_FALSE(product->found);
}

TEST(Promises, SayWhyAnAttentionWasNotFound) {
  auto graph = parse_graph(
      "s = matmul(q:f32[1,2,6,4], kt:f32[1,2,4,5])  # layers.0.attn.matmul\n"
      "p = softmax(s)  # layers.0.attn.softmax\n"
      "y = matmul(p, v:f32[1,2,5,4])  # layers.0.attn.matmul_1\n"
      "return y=y, weights=p");
  ASSERT_TRUE(graph);
  auto built = build_plan(*graph, {.rungs = {"attention"}, .threads = 1}, {.contents = false});
  ASSERT_TRUE(built) << built.error().message;
  const auto promises = promises_of(*graph, *built);
  ASSERT_THAT(promises, SizeIs(1));
  EXPECT_FALSE(promises[0].found);
  EXPECT_THAT(promises[0].by, EndsWith(": the weights are an output"));
}

TEST(Promises, AreBrokenByOneAttentionOfTwo) {
  const auto graph = parse_graph(
      "a = matmul(softmax(matmul(q:f32[1,2,6,4], kt:f32[1,2,4,5])), v:f32[1,2,5,4])  # attn.first.matmul\n"
      "p = softmax(exp(matmul(a, kt)))  # attn.second.softmax\n"
      "y = matmul(p, v)  # attn.second.matmul\n"
      "return y=y");
  ASSERT_TRUE(graph) << graph.error().message;
  const auto built = build_plan(*graph, {.rungs = {"attention"}, .threads = 1}, {.contents = false});
  ASSERT_TRUE(built) << built.error().message;
  const auto promises = promises_of(*graph, *built);
  ASSERT_THAT(promises, SizeIs(1));
  EXPECT_FALSE(promises[0].found);
  EXPECT_THAT(promises[0].by, HasSubstr("softmax"));
}

TEST(Promises, NeedTheOpsThatTheyAreAbout) {
  const auto graph = parse_graph("y = exp(x:f32[2,4])  # attention.exp\nreturn y=y");
  const auto built = build_plan(*graph, {.threads = 1}, {.contents = false});
  ASSERT_TRUE(built) << built.error().message;
  EXPECT_THAT(promises_of(*graph, *built), IsEmpty());
}

}  // namespace
}  // namespace rung::tasks
