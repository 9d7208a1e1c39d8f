// Watching the sensors of a device that is not there.
// SPDX-License-Identifier: Apache-2.0
#include "device/gpu/load_watch.hpp"

#include <gmock/gmock.h>

#include "support/fake_gpu.hpp"
#include "support/signal_masks.hpp"

namespace rung {
namespace {

using ::testing::HasSubstr;

TEST(LoadWatch, LooksAtBothEndsAndInBetween) {
  auto card = testing::fake_gpu();
  testing::fake_state().reading.energy_j = 0;
  testing::fake_state().reading.sm_mhz = 1500;
  gpu::LoadWatch watch(*card);
  EXPECT_TRUE(watch.sees());
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  DeviceLoad load = watch.stop(7);
  EXPECT_EQ(load.runs, 7);
  EXPECT_GE(load.samples, 3);
  EXPECT_GE(load.seconds, 0.3);
  EXPECT_TRUE(load.counted);
  EXPECT_NEAR(load.power_w * load.seconds, load.samples - 1, 1e-6);  // the fake counts a joule a look
  EXPECT_DOUBLE_EQ(load.sm_mhz, 1500);
  EXPECT_EQ(load.unknown, "");
}

TEST(LoadWatch, SaysWhyItSeesNothing) {
  auto card = testing::fake_gpu();
  testing::fake_state().no_sensors = "no such library";
  gpu::LoadWatch watch(*card);
  EXPECT_FALSE(watch.sees());
  DeviceLoad load = watch.stop(3);
  EXPECT_EQ(load.unknown, "no such library");
  EXPECT_EQ(load.samples, 0);
  EXPECT_EQ(load.runs, 3);
}

// The sensors are those of the device at its place on the bus.
TEST(LoadWatch, SeesNothingOfAnotherDevice) {
  testing::fake_state() = {};
  gpu::Runtime table = testing::fake_runtime();
  table.describe = [](int device, gpu::GpuInfo* info) {
    const int code = testing::fake::describe(device, info);
    info->bus_address = "0000:02:00.0";
    return code;
  };
  const auto card = *gpu::Gpu::open(table, 0);
  gpu::LoadWatch watch(*card);
  EXPECT_FALSE(watch.sees());
  EXPECT_EQ(watch.stop(1).unknown, "no device at '0000:02:00.0'");
}

TEST(LoadWatch, HandlesNoSignalsOnItsThread) {
  auto card = testing::fake_gpu();
  int before = threads_that_handle(SIGALRM);
  gpu::LoadWatch watch(*card);
  EXPECT_EQ(threads_that_handle(SIGALRM), before);
}

TEST(LoadWatch, MayBeLeftWithoutAnAnswer) {
  auto card = testing::fake_gpu();
  gpu::LoadWatch watch(*card);
}

TEST(Nvml, IsNamedWhereItIsMissing) {
  auto sensors = gpu::nvml_sensors();
  if (sensors) GTEST_SKIP() << "this machine has it";
  EXPECT_THAT(sensors.error().message, HasSubstr("NVIDIA management library"));
}

TEST(Nvml, ReadsTheGpuOfThisMachine) {
  auto runtime = gpu::cuda_runtime();
  if (!runtime) GTEST_SKIP() << runtime.error().message;
  auto card = gpu::Gpu::open(**runtime, 0);
  ASSERT_TRUE(card) << card.error().message;
  gpu::LoadWatch watch(**card);
  DeviceLoad load = watch.stop(1);
  EXPECT_EQ(load.unknown, "");
  EXPECT_GT(load.sm_mhz, 0);
  EXPECT_GT(load.power_w, 0);
  EXPECT_GT(load.power_limit_w, load.power_w / 2);
}

}  // namespace
}  // namespace rung
