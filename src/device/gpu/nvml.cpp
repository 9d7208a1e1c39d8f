// Opens NVIDIA's management library at run time. Names and numbers are those of its API reference.
// SPDX-License-Identifier: Apache-2.0
#include <dlfcn.h>

#include <bit>
#include <utility>

#include "device/gpu/sensors.hpp"

namespace rung::gpu {
namespace {

enum Clock { kSmClock = 1, kMemoryClock = 2 };  // nvmlClockType_t
constexpr int kGpuTemperature = 0;              // nvmlTemperatureSensors_t

// Reasons for clocks below those that the load wants. Idling and clocks that someone has set are not among them.
constexpr std::pair<unsigned long long, std::string_view> kReasons[] = {
    {0x04, "power cap"},         {0x08, "hardware slowdown"}, {0x20, "heat"},
    {0x40, "heat, in hardware"}, {0x80, "power brake"},
};

// All functions but the first two may be missing: then their readings are, too.
struct Library {
  int (*start)() = nullptr;
  int (*device_by_bus)(const char*, SensorDevice*) = nullptr;
  int (*clock)(SensorDevice, int, unsigned*) = nullptr;
  int (*power)(SensorDevice, unsigned*) = nullptr;                 // milliwatts
  int (*power_limit)(SensorDevice, unsigned*) = nullptr;           // milliwatts
  int (*energy)(SensorDevice, unsigned long long*) = nullptr;      // millijoules since the driver was loaded
  int (*temperature)(SensorDevice, int, unsigned*) = nullptr;      // degrees
  int (*throttling)(SensorDevice, unsigned long long*) = nullptr;  // bits of kReasons, and others
};
Library library;

template <class Pointer>
void find(void* handle, const char* name, Pointer& to) {
  if (void* symbol = dlsym(handle, name)) to = std::bit_cast<Pointer>(symbol);
}

Status load() {
  void* handle = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!handle) return fail("no NVIDIA management library: {}", dlerror());
  find(handle, "nvmlInit_v2", library.start);
  find(handle, "nvmlDeviceGetHandleByPciBusId_v2", library.device_by_bus);
  find(handle, "nvmlDeviceGetClockInfo", library.clock);
  find(handle, "nvmlDeviceGetPowerUsage", library.power);
  find(handle, "nvmlDeviceGetEnforcedPowerLimit", library.power_limit);
  find(handle, "nvmlDeviceGetTotalEnergyConsumption", library.energy);
  find(handle, "nvmlDeviceGetTemperature", library.temperature);
  find(handle, "nvmlDeviceGetCurrentClocksThrottleReasons", library.throttling);
  if (!library.start || !library.device_by_bus) return fail("the NVIDIA management library is too old");
  if (int code = library.start()) return fail("the NVIDIA management library cannot start (error {})", code);
  return {};
}

Result<SensorDevice> device(const std::string& bus_address) {
  SensorDevice found = nullptr;
  if (int code = library.device_by_bus(bus_address.c_str(), &found))
    return fail("the NVIDIA management library knows no device at {} (error {})", bus_address, code);
  return found;
}

// Returns the number that a function tells, times `unit`, if the library has the function.
template <class Number>
double told(double unit, int (*function)(SensorDevice, Number*), SensorDevice device) {
  Number value = 0;
  return function && function(device, &value) == 0 ? static_cast<double>(value) * unit : kNotTold;
}
double told(int (*function)(SensorDevice, int, unsigned*), SensorDevice device, int which) {
  unsigned value = 0;
  return function && function(device, which, &value) == 0 ? value : kNotTold;
}

SensorReading read(SensorDevice device) {
  SensorReading reading;
  reading.sm_mhz = told(library.clock, device, kSmClock);
  reading.memory_mhz = told(library.clock, device, kMemoryClock);
  reading.celsius = told(library.temperature, device, kGpuTemperature);
  reading.power_w = told(1e-3, library.power, device);
  reading.power_limit_w = told(1e-3, library.power_limit, device);
  reading.energy_j = told(1e-3, library.energy, device);
  unsigned long long reasons = 0;
  if (library.throttling && library.throttling(device, &reasons) == 0)
    for (auto [bit, words] : kReasons)
      if (reasons & bit) reading.throttling.push_back(words);
  return reading;
}

}  // namespace

Result<const Sensors*> nvml_sensors() {
  static const Status loaded = load();
  if (!loaded) return tl::unexpected(loaded.error());
  static constexpr Sensors table{.name = "nvml", .device = device, .read = read};
  return &table;
}

}  // namespace rung::gpu
