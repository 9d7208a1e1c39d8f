// A profile's figures belong to their launches, and its trace shows them in order.
// SPDX-License-Identifier: Apache-2.0
#include "ladder/profile.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <thread>

#include "ladder/measure_runs.hpp"
#include "plan/build.hpp"
#include "support/counting_gpu.hpp"
#include "support/fake_target.hpp"
#include "support/graphs.hpp"
#include "support/scripted_clock.hpp"

namespace rung {
namespace {

using Json = nlohmann::json;
using ::testing::ElementsAre;
using ::testing::StartsWith;

// Launches of other sizes: no two have the same work.
constexpr const char* kText =
    "x: f32[32,64] = input()\n"
    "w: f32[128,64] = constant(name=\"w\")\n"
    "h: f32[32,128] = linear(x, w)  # layer.0.dense\n"
    "y: f32[32,128] = exp(h)  # layer.0.act\n"
    "z: f32[32] = reduce(y, kind=max, axis=1)  # pool\n"
    "return z=z";

Session session_on(const Target& target, const Graph& graph, const Recipe& recipe = {}) {
  auto built = build_plan(graph, recipe, {.target = &target});
  EXPECT_TRUE(built) << built.error().message;
  built->plan.model = "small";
  auto team = std::make_shared<cpu::Team>(1);
  auto made = Session::create(std::make_shared<Plan>(std::move(built->plan)), target.gpu ? nullptr : team);
  EXPECT_TRUE(made) << made.error().message;
  return std::move(*made);
}

void expect_ops_of(const Plan& plan, const Profile& profile) {
  ASSERT_EQ(profile.ops.size(), plan.steps.size());
  double floors_us = 0;
  for (size_t i = 0; i < plan.steps.size(); ++i) {
    const Step& step = plan.steps[i];
    const OpTime& op = profile.ops[i];
    EXPECT_EQ(op.label, step.label);
    EXPECT_EQ(op.kernel, step.choice.kernel);
    EXPECT_EQ(op.problem, step.problem);
    EXPECT_EQ(op.category, step.category);
    EXPECT_EQ(op.flops, step.flops);
    EXPECT_EQ(op.bytes, step.bytes);
    floors_us += op.floor_us;
  }
  EXPECT_NEAR(profile.floor_ms * 1e3, floors_us, 1e-9);
}

std::vector<Json> launches_in(const Trace& trace) {
  std::vector<Json> launches;
  const Json root = Json::parse(trace.to_json());
  for (const Json& event : root["traceEvents"])
    if (event["ph"] == "X") launches.push_back(event);
  return launches;
}

void expect_trace_of(const Plan& plan, const Trace& trace) {
  std::vector<Json> launches = launches_in(trace);
  ASSERT_EQ(launches.size(), plan.steps.size());
  double end = 0;
  for (size_t i = 0; i < launches.size(); ++i) {
    const Step& step = plan.steps[i];
    EXPECT_EQ(launches[i]["name"], step.label);
    EXPECT_EQ(launches[i]["cat"], name_of(step.category));
    EXPECT_EQ(
        launches[i]["args"],
        (Json{
            {"kernel", step.choice.kernel}, {"problem", step.problem}, {"flops", step.flops}, {"bytes", step.bytes}}));
    EXPECT_GE(launches[i]["ts"].get<double>(), end - 1e-6) << "launches do not meet";
    end = launches[i]["ts"].get<double>() + launches[i]["dur"].get<double>();
  }
  EXPECT_EQ(launches[0]["ts"], 0.0);
}

TEST(Profile, OfAProcessorNamesEveryLaunchInOrder) {
  Graph graph = graph_of(kText);
  Session session = session_on(cpu_target(), graph);
  auto profile = profile_session(session, random_inputs(graph), 0.02);
  ASSERT_TRUE(profile) << profile.error().message;
  expect_ops_of(session.plan(), *profile);
  expect_trace_of(session.plan(), profile->trace);
}

// A device whose copies of 2 * 512 MiB take a millisecond.
Target counted_target() {
  Target target{.kind = "fake", .name = "fake", .fingerprint = "fake", .machine = Machine(cpu::cpu_info())};
  target.kernels = testing::fake_rows();
  target.gpu = testing::counting_gpu();
  testing::ledger().copies_ms.assign(8, 1);
  testing::ledger().free_bytes = size_t{4} << 30;
  return target;
}

// Kernels that take 7 us.
TEST(Profile, OfADeviceHasTheDevicesTimes) {
  Graph graph = graph_of(kText);
  const Target target = counted_target();
  Session session = session_on(target, graph);
  auto profile = profile_session(session, random_inputs(graph), 0.02);
  ASSERT_TRUE(profile) << profile.error().message;
  expect_ops_of(session.plan(), *profile);
  expect_trace_of(session.plan(), profile->trace);
  for (const OpTime& op : profile->ops) EXPECT_NEAR(op.us, 7, 1e-3) << op.label;
  std::vector<Json> launches = launches_in(profile->trace);
  for (size_t i = 0; i < launches.size(); ++i) {
    EXPECT_NEAR(launches[i]["ts"].get<double>(), 7.0 * static_cast<double>(i), 0.01);
    EXPECT_NEAR(launches[i]["dur"].get<double>(), 7, 0.01);
  }
  constexpr double kReadGbps = 2.097152;  // 1 MiB, read and written in 1 ms
  EXPECT_NEAR(profile->peaks.read_gbps, kReadGbps, 1e-4);
  EXPECT_NEAR(profile->ops[1].floor_us, profile->ops[1].bytes / kReadGbps / 1e3, 1e-3)
      << "bytes at the rate of the copy";
}

// Of what takes 1 ms in f32, and half of that where the device does twice as much in a second.
double floor_us(const Target& target, Op op, const std::vector<Type>& operands) {
  Step step{.op = std::move(op), .flops = 1e9, .bytes = 1};
  for (const Type& type : operands) step.inputs.push_back({.view = {.dtype = type.dtype, .shape = type.shape}});
  step.output.view = {.dtype = operands.back().dtype, .shape = {4, 8}};
  Profile profile{.peaks = {.gemm_f32_gflops = 1000, .gemm_bf16_gflops = 2000, .read_gbps = 1e9}};
  add_op(profile, step, 1, target);
  return profile.ops[0].floor_us;
}

TEST(Profile, HasFloorsByTheRateOfProductTypes) {
  const Target device = counted_target();
  auto product = [&](const Target& target, DType x, DType w) {
    return floor_us(target, Linear{}, {{x, {4, 16}}, {w, {8, 16}}});
  };
  for (const Target* target : {&cpu_target(), &device}) {
    EXPECT_EQ(product(*target, DType::f32, DType::f32), 1000) << target->name;
    EXPECT_EQ(product(*target, DType::bf16, DType::bf16), 500) << target->name;
    EXPECT_EQ(product(*target, DType::f32, DType::bf16), 1000) << target->name << ": computed in f32";
    EXPECT_EQ(product(*target, DType::f8e4m3fn, DType::f8e4m3fn), 250) << target->name;
    EXPECT_EQ(product(*target, DType::bf16, DType::i8), 500) << target->name << ": widened";
    const std::vector<Type> chosen{{DType::boolean, {4, 8}}, {DType::f32, {4, 8}}, {DType::f32, {4, 8}}};
    EXPECT_EQ(floor_us(*target, Select{}, chosen), 1000) << target->name << ": a mask is no product";
  }
  EXPECT_EQ(product(cpu_target(), DType::f16, DType::f16), 1000) << "kernels for processors widen it";
  EXPECT_EQ(product(device, DType::f16, DType::f16), 500);
}

// Each has a team of its own, of a size that nothing else here measures.
TEST(Profile, MeasuresPeaksOnceForAllThreads) {
  Peaks seen[2];
  auto measure = [&](Peaks& to) {
    cpu::Team team(3);
    to = machine_peaks(team, 0.01);
  };
  std::thread other(measure, std::ref(seen[0]));
  measure(seen[1]);
  other.join();
  EXPECT_GT(seen[0].barrier_us, 0) << "the last that is measured";
  EXPECT_EQ(seen[0].barrier_us, seen[1].barrier_us);
}

// Before each cold run, and outside its time, memory twice as large as the cache is written.
TEST(Profile, FlushesADevicesCacheBeforeColdRuns) {
  Graph graph = graph_of(kText);
  const Target target = counted_target();
  Session session = session_on(target, graph, {.capture = true});
  testing::ledger().fills.clear(), testing::ledger().calls.clear();
  auto profile = profile_session(session, random_inputs(graph), 0.02);
  ASSERT_TRUE(profile) << profile.error().message;
  const testing::Ledger& ledger = testing::ledger();
  ASSERT_GT(profile->cold.runs, 0);
  EXPECT_THAT(ledger.fills, ::testing::SizeIs(profile->cold.runs));
  EXPECT_THAT(ledger.fills, ::testing::Each(2 * testing::fake::kCacheBytes));
  auto at = std::find(ledger.calls.begin(), ledger.calls.end(), "fill");
  for (size_t run = 0; run < ledger.fills.size(); ++run, at += 6) {
    ASSERT_GE(ledger.calls.end() - at, 6);
    EXPECT_THAT(std::vector<std::string>(at, at + 6),
                ElementsAre("fill", "wait", StartsWith("record"), "graph", StartsWith("record"), "wait"));
  }
}

TEST(ColdRuns, ExcludeTheTimeOfMakingThemCold) {
  Graph graph = graph_of(kText);
  Session session = session_on(cpu_target(), graph);
  ASSERT_TRUE(session.set_inputs(random_inputs(graph)));
  scripted::Clock clock;
  int made_cold = 0;
  auto cold = time_cold_runs(session, 1, [&] { return scripted::Clock::pass_us(5e4), ++made_cold, Status{}; });
  ASSERT_TRUE(cold) << cold.error().message;
  EXPECT_EQ(cold->median_ms, 0);
  EXPECT_EQ(cold->runs, 12);
  EXPECT_EQ(made_cold, 12);
  auto failed = time_cold_runs(session, 1, []() -> Status { return fail("no flush"); });
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().message, "no flush");
}

TEST(Profile, AddsUpCategoriesWithHostTimeAsLaunching) {
  Profile profile;
  profile.ops = {{.category = Category::gemm, .us = 10},
                 {.category = Category::copy, .us = 3},
                 {.category = Category::gemm, .us = 20},
                 {.category = Category::launch, .us = 1}};
  profile.host_us = 5;
  EXPECT_EQ(by_category_us(profile), (std::map<std::string, double>{{"GEMM", 30}, {"copy", 3}, {"launch/host", 6}}));
}

void expect_in_order(const Latency& latency, int least_runs) {
  EXPECT_GE(latency.runs, least_runs);
  EXPECT_GT(latency.min_ms, 0);
  EXPECT_LE(latency.min_ms, latency.median_ms);
  EXPECT_LE(latency.median_ms, latency.p90_ms);
  EXPECT_LE(latency.p90_ms, latency.p99_ms);
  EXPECT_LE(latency.ci95.lo, latency.median_ms);
  EXPECT_GE(latency.ci95.hi, latency.median_ms);
}

TEST(Latency, HasItsPercentilesInOrder) {
  Graph graph = graph_of(kText);
  Session session = session_on(cpu_target(), graph);
  ASSERT_TRUE(session.infer(random_inputs(graph)));
  auto timed = time_runs(session, 0.05);
  ASSERT_TRUE(timed) << timed.error().message;
  expect_in_order(*timed, 1);
  auto measured = measure_runs(session, {.rate_hz = 4000, .runs = 300});
  ASSERT_TRUE(measured) << measured.error().message;
  expect_in_order(measured->latency, 300);
  EXPECT_EQ(measured->rate_hz, 4000);
  EXPECT_EQ(measured->latency.runs, 300);
}

}  // namespace
}  // namespace rung
