// Steps that one launch does: the recorder hands them to it together, and on Hopper they give what single launches
// give.
// SPDX-License-Identifier: Apache-2.0
#include "plan/joined.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <set>
#include <thread>

#include "plan/build.hpp"
#include "session/session.hpp"
#include "support/device.hpp"
#include "support/fake_target.hpp"
#include "support/graphs.hpp"

namespace rung {
namespace {

using ::testing::ElementsAre;

// How many calls each launch of the fake row did, and whether its barriers were zero and its own.
struct Joined {
  std::vector<size_t> launches;
  std::set<uint64_t> barriers;
  std::vector<uint32_t> beside;  // what each launch of several left for the next
  bool zeroed = true;
};
Joined& joined() {
  static Joined all;
  return all;
}
constexpr size_t kBarrierBytes = 24;

Status enqueue_alone(const gpu::Call& call) {
  joined().launches.push_back(1);
  return testing::enqueue_fallback(call);
}
Status enqueue_together(std::span<const gpu::Call> calls, uint64_t barriers, uint32_t beside) {
  joined().launches.push_back(calls.size());
  joined().barriers.insert(barriers), joined().beside.push_back(beside);
  const auto* bytes = static_cast<const char*>(gpu::device_pointer(barriers));
  joined().zeroed &= std::all_of(bytes, bytes + kBarrierBytes, [](char byte) { return byte == 0; });
  for (const gpu::Call& call : calls) RUNG_CHECK(testing::enqueue_fallback(call));
  return {};
}
size_t up_to_three(std::span<const Problem> problems, const Machine&) { return std::min<size_t>(problems.size(), 3); }

// The fake target, whose row of unary ops does up to three steps in a launch.
Target joining_target() {
  static const Joining joining{kBarrierBytes, up_to_three, enqueue_together};
  static const std::vector<const Kernel*> rows = [] {
    std::vector<const Kernel*> made;
    for (const Kernel* row : testing::fake_rows()) {
      auto* own = new Kernel(*row);
      if (row->op == "unary") own->enqueue = enqueue_alone, own->joining = &joining;
      if (row->op == "binary") own->shared_bytes = [](const Problem&, const Machine&) { return 7u; };
      made.push_back(own);
    }
    return made;
  }();
  joined() = {};
  Target target = testing::fake_target();
  target.kernels = rows;
  return target;
}

using Outputs = std::vector<std::pair<std::string, Tensor>>;

Result<Session> session_on(const Target& target, const Graph& graph, const Recipe& recipe) {
  RUNG_TRY(Built built, build_plan(graph, recipe, {.target = &target}));
  return Session::create(std::make_shared<Plan>(std::move(built.plan)), nullptr);
}

constexpr const char* kUnaries =
    "x: f32[4] = input()\na: f32[4] = neg(x)\nb: f32[4] = exp(a)\nc: f32[4] = neg(b)\nd: f32[4] = exp(c)\n"
    "e: f32[4] = tanh(d)\nf: f32[4] = add(e, x)\ng: f32[4] = neg(f)\nreturn g=g";

TEST(JoinedSteps, AreOneCallOfTheirRow) {
  const Target target = joining_target();
  const Graph graph = graph_of(kUnaries);
  auto together = session_on(target, graph, {.joined = true}), apart = session_on(target, graph, {});
  ASSERT_TRUE(together && apart);
  EXPECT_THAT(steps_of_launches(together->plan()), ElementsAre(3, 2, 1, 1));
  EXPECT_THAT(steps_of_launches(apart->plan()), ElementsAre(1, 1, 1, 1, 1, 1, 1));
  const NamedTensors inputs = random_inputs(graph);
  auto one = together->infer(inputs);
  EXPECT_THAT(joined().launches, ElementsAre(3, 2, 1));
  auto other = apart->infer(inputs);
  ASSERT_TRUE(one && other);
  EXPECT_THAT(joined().launches, ElementsAre(3, 2, 1, 1, 1, 1, 1, 1, 1));
  EXPECT_TRUE(same_bits(one->front().second, other->front().second));
  EXPECT_EQ(joined().barriers.size(), 2u) << "each launch has barriers of its own";
  EXPECT_TRUE(joined().zeroed);
  EXPECT_THAT(joined().beside, ElementsAre(0, 7)) << "unary ops, then the sum, are next";
}

TEST(JoinedSteps, AreRecordedTogether) {
  const Target target = joining_target();
  const Graph graph = graph_of(kUnaries);
  auto session = session_on(target, graph, {.capture = true, .joined = true});
  ASSERT_TRUE(session) << session.error().message;
  EXPECT_THAT(std::span(joined().launches).last(3), ElementsAre(3, 2, 1));
}

TEST(JoinedSteps, RunOneByOneWhereFaultsAreSought) {
  const Target target = joining_target();
  const Graph graph = graph_of(kUnaries);
  auto built = build_plan(graph, {.joined = true}, {.target = &target});
  ASSERT_TRUE(built) << built.error().message;
  auto session = Session::create(std::make_shared<Plan>(std::move(built->plan)), nullptr, {.stepwise = true});
  ASSERT_TRUE(session) << session.error().message;
  ASSERT_TRUE(session->infer(random_inputs(graph)));
  EXPECT_THAT(joined().launches, ElementsAre(1, 1, 1, 1, 1, 1));
}

// Layers of every end, one after another; some have fewer tiles than a machine has blocks.
std::string layers(int64_t rows, std::string_view w, std::string_view scales, int packed) {
  const auto weights = [&](const char* name, int64_t n, int64_t k) {
    return fmt::format("{0}: {1}[{2},{3}] = constant()\n{0}_scale: f32[{2}] = constant()\n", name, w, n, k / packed) +
           (packed > 1 ? fmt::format("{0}_steps: i8[{1},{2}] = constant()\n{0}_from: i8[{1},{2}] = constant()\n", name,
                                     n, k / 32)
                       : "");
  };
  const auto operands = [&](const char* name) {
    if (scales.empty()) return std::string();
    return packed > 1 ? fmt::format(", {0}_scale, {0}_steps, {0}_from", name) : fmt::format(", {}_scale", name);
  };
  std::string text = fmt::format(
      "x: bf16[{0},512] = input()\nr: f32[{0},512] = input()\ncos: f32[{0},64] = input()\nsin: f32[{0},64] = input()\n"
      "g: f32[512] = constant()\n",
      rows);
  text += weights("o", 512, 512) + weights("up", 2048, 512) + weights("down", 512, 1024) + weights("q", 768, 512) +
          weights("last", 9000, 768);
  text += fmt::format(
      "a = linear(x, o, r, g{2}, slots=residual+norm_weight{1}, norm_run=8)\n"
      "b: bf16[{0},1024] = linear(result(a), up, result(a, index=2){3}, slots=squares{1}, gated=true, activation=silu, "
      "out=bf16)\n"
      "c = linear(b, down, a, g{4}, slots=residual+norm_weight{1}, norm_run=8)\n"
      "d: bf16[{0},768] = linear(result(c), q, cos, sin, result(c, index=2){5}, slots=cos+sin+squares{1}, "
      "rotated_heads=6, out=bf16)\n"
      "e: f32[{0},9000] = linear(d, last{6}, {7}out=f32)\n"
      "return a=a, b=b, c=c, d=d, e=e",
      rows, scales, operands("o"), operands("up"), operands("down"), operands("q"), operands("last"),
      scales.empty() ? "" : fmt::format("slots={}, ", scales.substr(1)));
  return text;
}

struct Layers {
  const char *w, *scales;
  int packed = 1;
};
constexpr Layers kLayers[] = {
    {"bf16", ""}, {"f8e4m3fn", "+scale"}, {"i8", "+scale"}, {"u8", "+scale+group_scale+group_offset", 2}};

Result<Outputs> run_often(const Graph& graph, const Recipe& recipe, int runs) {
  RUNG_TRY(const Target* target, open_target("cuda"));
  RUNG_TRY(Session session, session_on(*target, graph, recipe));
  Result<Outputs> last = fail("no run");
  for (int i = 0; i < runs; ++i) last = session.infer(random_inputs(graph));
  return last;
}

TEST(JoinedLayers, GiveTheSameBitsOnHopper) {
  if (auto target = open_target("cuda"); !target) GTEST_SKIP() << target.error().message;
  for (const Layers& each : kLayers)
    for (const int64_t rows : {1, 3}) {
      const Graph graph = graph_of(layers(rows, each.w, each.scales, each.packed));
      auto apart = run_often(graph, {.capture = true, .threads = 0}, 1);
      auto together = run_often(graph, {.capture = true, .joined = true, .threads = 0}, 50);
      ASSERT_TRUE(apart) << apart.error().message;
      ASSERT_TRUE(together) << together.error().message;
      for (size_t i = 0; i < apart->size(); ++i)
        EXPECT_TRUE(same_bits((*apart)[i].second, (*together)[i].second))
            << each.w << ", " << rows << " rows: " << (*apart)[i].first;
    }
}

// Blocks of a launch wait for each other, so that two launches, each with half of its blocks there, would wait for
// ever.
TEST(JoinedLayers, RunBesideThoseOfOtherSessions) {
  if (auto target = open_target("cuda"); !target) GTEST_SKIP() << target.error().message;
  const Graph graph = graph_of(layers(1, "bf16", "", 1));
  const Recipe recipe{.capture = true, .joined = true, .threads = 0};
  Result<Outputs> results[] = {fail("no run"), fail("no run"), fail("no run")};
  {
    std::vector<std::jthread> threads;
    for (auto& result : results) threads.emplace_back([&] { result = run_often(graph, recipe, 2000); });
  }
  for (const auto& result : results) {
    ASSERT_TRUE(result) << result.error().message;
    EXPECT_TRUE(same_bits(result->back().second, results[0]->back().second));
  }
}

}  // namespace
}  // namespace rung
