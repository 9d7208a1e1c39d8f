// What vanishing work takes off a step: of the device, and of the host where the device waits for it.
// SPDX-License-Identifier: Apache-2.0
#include "trace/findings/saving.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/told_model.hpp"
#include "trace/findings/evidence.hpp"

namespace rung::trace {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// Products of the sizes that keep the load light or make it heavy.
const ToldProduct kLight{.m = 64, .k = 64, .n = 64, .us = 100}, kHeavy{.m = 2048, .k = 4096, .n = 4096, .us = 100};

struct Told {
  Recording recording;
  Analysis analysis;
  explicit Told(ToldModel& model)
      : recording(model.script.finish()), analysis((recording.device_names = {model.device}, analyse(recording))) {}
};

TEST(HostCosts, LastFromLaunchToLaunch) {
  ToldModel model;
  model.script.kernel("a", 5).host(30).kernel("b", 5).host(10).runtime_call("cudaEventQuery", 7).kernel("c", 5);
  model.script.synchronize().kernel("d", 5);
  EXPECT_THAT(host_ns_of_work(Told(model).analysis), ElementsAre(0, 34'000, 14'000, 4'000))
      << "of the first nothing is known, and waits and queries are not for a launch";
}

TEST(HostCosts, BeginAnewWithEachStep) {
  ToldModel model;
  model.script.range("ProfilerStep#1", [&] { model.script.host(20).kernel("a", 5); });
  model.script.host(500);
  model.script.range("ProfilerStep#2", [&] { model.script.host(20).kernel("a", 5); });
  EXPECT_THAT(host_ns_of_work(Told(model).analysis), ElementsAre(24'000, 24'000));
}

TEST(HostCosts, OfAGraphAreNoKernels) {
  ToldModel model;
  model.script.kernel("a", 5).host(30).graph({{"b", 5}, {"c", 5}}).host(10).kernel("d", 5);
  EXPECT_THAT(host_ns_of_work(Told(model).analysis), ElementsAre(0, 0, 0, 14'000));
}

TEST(HostCosts, AreWithoutTheProfilersOwn) {
  ToldModel model;
  model.script.range("ProfilerStep#1", [&] {
    for (int i = 0; i < 40;
         ++i)  // 2 us before the inner operation: 4 us of each of 80 were the profiler's, half at most
      model.script.op(
          "aten::linear", [&] { model.product({.m = 64, .k = 64, .n = 64, .us = 1}); }, {}, 4);
  });
  const std::vector<int64_t> costs = host_ns_of_work(Told(model).analysis);
  EXPECT_EQ(costs[5], 4'500) << "half of 9 us between two launches";
}

TEST(Saving, OfTheDeviceWhereTheHostIsAhead) {
  ToldModel model;
  model.product(kLight).product(kLight).norm(300, {1});
  const Told told(model);
  Saving saving(told.analysis);
  saving.remove(1);
  EXPECT_NEAR(saving.bound_ms(), 0.100, 1e-9);
}

TEST(Saving, OfHostTimeIsWithinDeviceIdleTime) {
  const auto removed = [](double host_us) {
    ToldModel model;
    model.product(kLight).script.host(host_us);
    model.product(kLight).norm(300, {1});
    const Told told(model);
    Saving saving(told.analysis);
    saving.remove(1);
    return saving.bound_ms();
  };
  EXPECT_NEAR(removed(500), 0.505, 0.003) << "of a launch the host takes longer than the device";
  EXPECT_NEAR(removed(130), 0.135, 0.003);
  EXPECT_NEAR(removed(50), 0.100, 1e-9) << "the device was busy meanwhile";
}

// The launch took 200 us more than its work, and the device stood still for 31.5 of them, in two gaps.
TEST(Saving, OfALaunchIsWithinDeviceIdleTime) {
  ToldModel model;
  model.product({.m = 64, .k = 64, .n = 64, .us = 180}).script.host(200);
  const Told told(model.product({.m = 64, .k = 64, .n = 64, .us = 5}).norm(300, {1}));
  Saving saving(told.analysis);
  saving.remove(1);
  EXPECT_NEAR(saving.bound_ms(), 0.005 + 0.0315, 1e-6);
}

TEST(Saving, OfHostTimeIsNoneWithLostLaunches) {
  ToldModel model;
  model.product(kLight).script.host(250).runtime_call("cudaGraphLaunch", 5).host(250);
  const Told told(model.product(kLight).norm(300, {1}));
  Saving saving(told.analysis);
  saving.remove(1);
  EXPECT_NEAR(saving.bound_ms(), 0.100, 1e-9) << "the device may have been busy";
}

TEST(Saving, OfTheDeviceHasThePausesBeforeWork) {
  const auto saved_ms = [](const auto& change) {
    ToldModel model;
    model.script.device_pause(20);
    for (int i = 0; i < 4; ++i) model.product(kLight);
    const Told told(model.norm(300, {1}));
    Saving saving(told.analysis);
    change(saving);
    return saving.bound_ms();
  };
  EXPECT_NEAR(saved_ms([](Saving& s) { s.remove(1); }), 0.120, 1e-9);
  EXPECT_NEAR(saved_ms([](Saving& s) { s.remove(1), s.remove(3); }), 0.240, 1e-9);
  EXPECT_NEAR(saved_ms([](Saving& s) {
                s.replace(std::vector<size_t>{1, 2}, 50'000);
              }),
              0.170, 1e-9)
      << "what replaces both has a pause before it, too";
}

TEST(Saving, OfAReplacementTheDearestLaunchRemains) {
  ToldModel model;
  for (const double host_us : {0.0, 400.0, 300.0}) {
    model.script.host(host_us);
    model.product(kLight);
  }
  const Told told(model.norm(300, {1}));
  Saving saving(told.analysis);
  saving.replace(std::vector<size_t>{0, 1, 2}, 50'000);
  EXPECT_NEAR(saving.bound_ms(), 0.305, 0.005) << "the launch of 300 us vanishes, 250 us of the device with it";
}

TEST(Saving, CountsMoreUnderALoadThatLasts) {
  const auto shortened = [](const ToldProduct& product, std::string_view device, double other_us) {
    ToldModel model;
    model.device = device;
    const Told told(model.product(product).norm(other_us, {1}));
    Saving saving(told.analysis);
    saving.shorten(10'000);
    EXPECT_NEAR(saving.bound_ms(), 0.010, 1e-9) << "of the step as it was recorded";
    TraceFinding finding;
    saving.give_bound(finding, "why");
    EXPECT_DOUBLE_EQ(finding.bound_ms, saving.bound_ms());
    return std::pair(saving.loaded_bound_ms(), finding.bound_from);
  };
  EXPECT_NEAR(shortened(kHeavy, "NVIDIA H200", 50).first, 0.013, 1e-9);
  EXPECT_EQ(shortened(kHeavy, "NVIDIA H200", 50).second,
            "why; up to 13.0 µs where clocks fall under a load that lasts (1.3 times the device's part)");
  EXPECT_NEAR(shortened(kLight, "NVIDIA H200", 50).first, 0.010, 1e-9);
  EXPECT_EQ(shortened(kLight, "NVIDIA H200", 50).second, "why");
  EXPECT_NEAR(shortened(kHeavy, "NVIDIA H200", 300).first, 0.010, 1e-9) << "a sixth of the peak";
  EXPECT_NEAR(shortened(kLight, "Unknown GPU", 50).first, 0.013, 1e-9) << "nothing is known";
  EXPECT_NEAR(shortened(kHeavy, "NVIDIA H200", 600'000).first, 0.010, 1e-9) << "the recording is long enough itself";
}

TEST(Saving, SaysWhatOfItsBoundIsTheHosts) {
  ToldModel model;
  model.product(kLight).script.host(500);
  model.product(kLight).norm(300, {1});
  const Told told(model);
  Saving saving(told.analysis);
  saving.remove(1);
  TraceFinding finding;
  saving.give_bound(finding, "time of the copies");
  EXPECT_NEAR(finding.bound_ms, 0.505, 0.003);
  EXPECT_THAT(finding.bound_from,
              HasSubstr("time of the copies, 100 µs, and 405 µs of the host's launches while the device stood still"));
}

TEST(Saving, IsAtMostTheStep) {
  ToldModel model;
  const Told told(model.product(kLight).norm(50, {1}));
  Saving saving(told.analysis);
  saving.shorten(1'000'000'000);
  EXPECT_DOUBLE_EQ(saving.bound_ms(), step_ms(told.analysis));
}

TEST(Saving, NothingIsWorseThanBefore) {
  ToldModel model;
  const Told told(model.product(kLight).norm(50, {1}));
  Saving saving(told.analysis);
  saving.shorten(-5'000);
  saving.replace(std::vector<size_t>{0}, 900'000);
  EXPECT_EQ(saving.bound_ms(), 0);
}

}  // namespace
}  // namespace rung::trace
