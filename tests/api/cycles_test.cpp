// Opening, running and closing again and again leaves nothing behind. RUNG_TEST_CYCLES says how often; the default is
// for every day.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <cstdlib>
#include <limits>

#include "api/support.hpp"
#include "device/gpu/gpu.hpp"
#include "kernels/target.hpp"
#include "measure/resources.hpp"
#include "open/open_model.hpp"
#include "open/recipe.hpp"
#include "plan/file.hpp"
#include "support/device.hpp"
#include "support/gpu_word.hpp"

namespace rung {
namespace {

int cycles() {
  const char* asked = std::getenv("RUNG_TEST_CYCLES");
  return asked ? std::atoi(asked) : 200;
}

double free_device_bytes(const Target& target) {
  return target.gpu ? static_cast<double>(target.gpu->memory()->free) : 0;
}

void expect_no_growth(const std::string& device) {
  TemporaryDirectory folder;
  auto opened = open_model({.path = kModel, .device = device_named(device), .shapes = {{"input_ids", {1, 9}}}});
  ASSERT_TRUE(opened) << opened.error().message;
  auto plan = build_subject(*opened->subject, default_recipe(threads_for(*opened->target, 2)), *opened->target);
  ASSERT_TRUE(plan && save_plan(**plan, folder / "plan.rung")) << plan.error().message;
  const auto cycle = [&] {
    api::Session session = session_of(folder / "plan.rung");
    ASSERT_TRUE(session.input("input_ids"));
    ASSERT_TRUE(session.run());
    ASSERT_FALSE(session.bind_input("nothing", std::span<const float>()));
  };
  // Every window grows by what leaks; the system's huge pages come to one or another.
  constexpr int kWindows = 4;
  double least = std::numeric_limits<double>::infinity(), least_on_device = least;
  for (int window = 0; window < kWindows; ++window) {
    const double resident = resident_bytes(), free = free_device_bytes(*opened->target);
    for (int i = 0; i < cycles() / kWindows && !testing::Test::HasFailure(); ++i) cycle();
    least = std::min(least, resident_bytes() - resident);
    least_on_device = std::min(least_on_device, free - free_device_bytes(*opened->target));
  }
  EXPECT_LT(least, 2.5e5) << cycles() << " cycles";
  EXPECT_LT(least_on_device, 2.5e5) << cycles() << " cycles";
}

TEST(OpenRunClose, LeavesNothingBehind) { expect_no_growth("cpu"); }

TEST(GpuOpenRunClose, LeavesNothingBehind) {
  if (auto target = open_target(gpu_word()); !target) GTEST_SKIP() << target.error().message;
  expect_no_growth(gpu_word());
}

}  // namespace
}  // namespace rung
