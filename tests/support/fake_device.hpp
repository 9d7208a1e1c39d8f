// A fixture of tests that start programs on a driver whose kernels do nothing.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <gtest/gtest.h>

#include <cstdlib>

#include "device/gpu/modules.hpp"

namespace rung {

// Skips where this build has no kernels for the driver to load.
class OnAFakeDevice : public testing::Test {
 protected:
  void SetUp() override {
    if (auto missing = gpu::missing_modules_reason(gpu::Vendor::nvidia); !missing.empty()) GTEST_SKIP() << missing;
    setenv("LD_LIBRARY_PATH", RUNG_FAKE_DRIVER_FOLDER, 1);
  }
  void TearDown() override { unsetenv("LD_LIBRARY_PATH"); }
};

}  // namespace rung
