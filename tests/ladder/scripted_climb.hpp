// A climb of three launches on a scripted processor: every time in its receipts is known beforehand.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>

#include "ladder/climber.hpp"
#include "ladder/profile.hpp"
#include "ladder/refine.hpp"
#include "support.hpp"
#include "support/scripted.hpp"

namespace rung {

// y = neg(exp(softmax(x))). Softmax takes 1000 us in its first row, the two others 300 us each, and 200 us as one
// pointwise launch. What a test adds to softmax's rows is what tuning may choose.
class ScriptedClimb : public ::testing::Test {
 protected:
  static constexpr int kThreads = 1;
  static constexpr double kHandoffUs = 2;

  ScriptedClimb() {
    Graph graph = graph_of("x: f32[2,8] = input()\ns = softmax(x)\ne = exp(s)\ny = neg(e)\nreturn y=y");
    subject.model.graph = subject.reference = graph;
    subject.model.name = "scripted";
    subject.model.defaults["x"].type = {DType::f32, {2, 8}};
    know_peaks(kThreads, {.fma_f32_gflops = 1,
                          .gemm_f32_gflops = 1,
                          .gemm_bf16_gflops = 2,
                          .read_gbps = 1,
                          .handoff_us = kHandoffUs,
                          .barrier_us = 1});
    rows.add("unary", {{"unary_plain", scripted::right<300>}});
  }

  // Inputs that differ in the sign of what kernels read first.
  static NamedTensors numbers(float sign) {
    std::vector<float> values(16, 0.5f);
    for (size_t i = 0; i < values.size(); ++i) values[i] += 0.01f * static_cast<float>(i);
    values[0] = sign;
    return {{"x", Tensor::of<float>({2, 8}, values)}};
  }

  void set_kernels(std::initializer_list<scripted::NamedRun> softmax,
                   std::initializer_list<scripted::NamedRun> pointwise = {{"pointwise_plain", scripted::right<200>}}) {
    rows.add("softmax", softmax);
    rows.add("pointwise", pointwise);
    target = rows.target();
  }

  // What a climb before this one measured for softmax on a quiet machine, the winner first.
  void know_softmax(const std::vector<std::pair<std::string, double>>& kernels) {
    auto built = build_plan(subject.model.graph, {}, {.target = &target});
    ASSERT_TRUE(built) << built.error().message;
    auto database = TuningDatabase::open(options.database_path, target.fingerprint);
    ASSERT_TRUE(database) << database.error().message;
    softmax_problem = built->plan.steps[0].problem;
    TunedProblem tuned{{kernels[0].first, {}}, {}, Margin{}};
    for (const auto& [name, us] : kernels) tuned.candidates.push_back({name, {}, us, "measured"});
    database->put(softmax_problem, std::move(tuned));
    ASSERT_TRUE(database->save());
  }

  ClimbOutcome climbed() {
    auto outcome = climb(subject, options);
    EXPECT_TRUE(outcome) << outcome.error().message;
    return outcome ? std::move(*outcome) : ClimbOutcome{};
  }

  // A rung's receipt from the first time that it was tried; one without a name if there is none.
  static Receipt receipt_of(const ClimbOutcome& outcome, std::string_view rung) {
    const auto found = std::ranges::find(outcome.result.rungs, rung, &Receipt::name);
    return found == outcome.result.rungs.end() ? Receipt{} : *found;
  }

  // The kernel that a plan launches first: softmax's.
  static std::string softmax_of(const ClimbOutcome& outcome) { return outcome.plan->steps.at(0).choice.kernel; }

  scripted::Clock clock;
  scripted::Rows rows;
  Target target = cpu_target();
  Subject subject;
  TemporaryDirectory directory;
  std::string softmax_problem;
  ClimbOptions options{.target = &target,
                       .threads = kThreads,
                       .budget_s = 20,
                       .inputs = {numbers(1), numbers(-1)},
                       .database_path = directory / "tuning.json"};
};

}  // namespace rung
