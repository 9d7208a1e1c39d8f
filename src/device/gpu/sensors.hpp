// Reads the sensors of a GPU through its vendor's management library: `nvml` on NVIDIA, opened at run time.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "base/status.hpp"
#include "measure/device_load.hpp"

namespace rung::gpu {

using SensorDevice = void*;

struct Sensors {
  const char* name;  // "nvml"
  // Errors: the library knows no device at this address of the PCI bus.
  Result<SensorDevice> (*device)(const std::string& bus_address);
  SensorReading (*read)(SensorDevice device);  // all that it can; the caller adds the time
};

// Errors: no such library, or it cannot start.
Result<const Sensors*> nvml_sensors();

}  // namespace rung::gpu
