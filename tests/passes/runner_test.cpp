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

TEST(Runner, RunsThePassesOfEnabledRungsInOrderAndReports) {
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
TEST(Runner, DumpsTheGraphThatAFailingPassWasGiven) {
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
TEST(Runner, NamesThePassWhenThereIsNoDumpFolder) {
  Graph graph = graph_of("y = tanh(x:f32[2])");
  auto report = run_passes(graph, {.rungs = {"c"}}, kList);
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().message, "pass 'give_up': cannot go on");
}
TEST(Pipeline, NamesEveryPassOnceAndGivesAReason) {
  std::set<std::string_view> names;
  for (const Pass& pass : pipeline()) {
    EXPECT_TRUE(names.insert(pass.name).second) << pass.name;
    EXPECT_FALSE(pass.reason.empty()) << pass.name;
    EXPECT_NE(pass.run, nullptr) << pass.name;
  }
}

}  // namespace
}  // namespace rung::test
