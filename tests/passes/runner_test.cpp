// The runner: order, enabling, verification, dumps.
// SPDX-License-Identifier: Apache-2.0
#include "passes/runner.hpp"

#include <gmock/gmock.h>

#include <filesystem>
#include <set>

#include "base/atomic_file.hpp"
#include "ir/text.hpp"
#include "passes/pipeline.hpp"
#include "passes/rewrite.hpp"
#include "passes/support.hpp"

namespace rung::test {
namespace {

Status tanh_to_exp(Graph& graph, PassContext& context) {
  passes::for_each_node(graph, [&](NodeId id) {
    const auto* unary = graph.as<Unary>(id);
    if (unary && unary->kind == UnaryKind::tanh)
      passes::replace(graph, id, Unary{UnaryKind::exp}, {graph[id].operands[0]});
  });
  context.notes.add("tanh became exp");
  return {};
}
Status give_up(Graph& graph, PassContext&) {
  passes::replace_with(graph, graph.outputs()[0].node, graph.inputs()[0]);
  return fail("cannot go on");
}
Status do_nothing(Graph&, PassContext&) { return {}; }

constexpr Pass kList[] = {
    {"tanh_to_exp", "a", "", tanh_to_exp}, {"do_nothing", "b", "", do_nothing}, {"give_up", "c", "", give_up}};

TEST(Runner, RunsEnabledRungsPassesInOrder) {
  Graph graph = graph_of("dead = exp(x:f32[2])\ny = tanh(x)");
  auto report = run_passes(graph, {.rungs = {"b", "a"}}, kList);
  ASSERT_TRUE(report) << report.error().message;
  ASSERT_EQ(report->rows.size(), 2u);
  EXPECT_EQ(report->rows[0].name, "tanh_to_exp");
  EXPECT_TRUE(report->rows[0].changed);
  EXPECT_THAT(report->rows[0].notes, testing::ElementsAre("tanh became exp"));
  EXPECT_EQ(report->rows[0].nodes_before, 2u);
  EXPECT_FALSE(report->rows[1].changed);
  EXPECT_EQ(expression(graph), "y = exp(x)");
}
TEST(Runner, LeavesOutDisabledPasses) {
  Graph graph = graph_of("y = tanh(x:f32[2])");
  auto report = run_passes(graph, {.rungs = {"a"}, .disabled = {"tanh_to_exp"}}, kList);
  ASSERT_TRUE(report);
  EXPECT_TRUE(report->rows.empty());
  EXPECT_EQ(expression(graph), "y = tanh(x)");
}
TEST(Runner, DumpsTheGraphBeforeAFailingPass) {
  std::string directory = testing::TempDir();
  Graph graph = graph_of("y = tanh(x:f32[2])");
  auto report = run_passes(graph, {.rungs = {"c"}, .dump_directory = directory}, kList);
  ASSERT_FALSE(report);
  std::string path = directory + "/give_up.before.txt";
  EXPECT_THAT(report.error().message,
              testing::AllOf(testing::HasSubstr("pass 'give_up': cannot go on"), testing::HasSubstr(path)));
  auto text = read_text_file(path);
  ASSERT_TRUE(text);
  EXPECT_EQ(expression(graph_of(*text)), "y = tanh(x)");
  std::filesystem::remove(path);
}
TEST(Runner, NamesTheFailingPassWithoutADumpFolder) {
  Graph graph = graph_of("y = tanh(x:f32[2])");
  auto report = run_passes(graph, {.rungs = {"c"}}, kList);
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().message, "pass 'give_up': cannot go on");
}
// Of a chain exp(exp(...)), one link becomes relu.
template <UnaryKind from, UnaryKind to>
Status turn_one(Graph& graph, PassContext&) {
  bool turned = false;
  passes::for_each_node(graph, [&](NodeId id) {
    const auto* unary = graph.as<Unary>(id);
    if (turned || !unary || unary->kind != from) return;
    passes::replace(graph, id, Unary{to}, {graph[id].operands[0]});
    turned = true;
  });
  return {};
}
constexpr Status (*tanh_to_relu)(Graph&, PassContext&) = turn_one<UnaryKind::tanh, UnaryKind::relu>;
constexpr Pass kCanonical[] = {{"shorten", kCanonicalRung, "", turn_one<UnaryKind::exp, UnaryKind::tanh>},
                               {"settle", kCanonicalRung, "", tanh_to_relu}};
constexpr const char* kThree = "y = exp(exp(exp(x:f32[2])))";

TEST(CanonicalPasses, RunUntilNoneChangesTheGraph) {
  Graph graph = graph_of(kThree);
  auto report = run_passes(graph, {.rungs = {"a"}}, {}, kCanonical);
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(expression(graph), "y = relu(relu(relu(x)))");
  EXPECT_EQ(report->rows.size(), 6u) << "repetitions without effect have no row";
}
TEST(CanonicalPasses, RunWhereNoRungIsOn) {
  Graph graph = graph_of(kThree);
  auto report = run_passes(graph, {}, {}, kCanonical);
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(expression(graph), "y = relu(relu(relu(x)))");
}
TEST(CanonicalPasses, LeaveTheGraphAsWrittenOnRequestAlone) {
  Graph graph = graph_of(kThree);
  auto report = run_passes(graph, {.as_written = true}, {}, kCanonical);
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(expression(graph), "y = exp(exp(exp(x)))");
}
TEST(CanonicalPasses, RunAgainAfterAPassAskingForIt) {
  for (bool again : {false, true}) {
    const Pass list[] = {{"back", "a", "", turn_one<UnaryKind::relu, UnaryKind::exp>, again}};
    Graph graph = graph_of(kThree);
    auto report = run_passes(graph, {.rungs = {"a"}}, list, kCanonical);
    ASSERT_TRUE(report) << report.error().message;
    EXPECT_EQ(expression(graph), again ? "y = relu(relu(relu(x)))" : "y = relu(relu(exp(x)))");
  }
}
TEST(CanonicalPasses, CanBeDisabledByName) {
  Graph graph = graph_of(kThree);
  auto report = run_passes(graph, {.rungs = {"a"}, .disabled = {"settle"}}, {}, kCanonical);
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(expression(graph), "y = tanh(tanh(tanh(x)))");
}
TEST(CanonicalPasses, ThatUndoEachOtherAreAnError) {
  const Pass cycle[] = {{"there", kCanonicalRung, "", turn_one<UnaryKind::exp, UnaryKind::tanh>},
                        {"back", kCanonicalRung, "", turn_one<UnaryKind::tanh, UnaryKind::exp>}};
  Graph graph = graph_of(kThree);
  auto report = run_passes(graph, {.rungs = {"a"}}, {}, cycle);
  ASSERT_FALSE(report);
  EXPECT_THAT(report.error().message, testing::HasSubstr("still change the graph after 50 rounds"));
}
TEST(Pipeline, NamesEveryPassOnceAndGivesAReason) {
  std::set<std::string_view> names;
  for (auto passes : {canonical_passes(), pipeline()})
    for (const Pass& pass : passes) {
      EXPECT_TRUE(names.insert(pass.name).second) << pass.name;
      EXPECT_FALSE(pass.reason.empty()) << pass.name;
      EXPECT_NE(pass.run, nullptr) << pass.name;
      EXPECT_EQ(pass.rung == kCanonicalRung,
                &pass >= canonical_passes().data() && &pass < canonical_passes().data() + canonical_passes().size());
    }
}

}  // namespace
}  // namespace rung::test
