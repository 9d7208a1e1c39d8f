// A GPU runtime made of host memory: nothing is computed, everything is granted; for tests of what surrounds kernels.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdlib>
#include <cstring>

#include "device/gpu/gpu.hpp"

namespace rung::testing {

// What its sensors tell, and how many nodes its graphs have: set by a test.
struct FakeState {
  SensorReading reading;
  std::string no_sensors;  // why they cannot be opened
  size_t nodes = 0, captures = 0;
};
inline FakeState& fake_state() {
  static FakeState state;
  return state;
}

namespace fake {

inline int granted() { return 0; }
template <class... Arguments>
int grant(Arguments...) {
  return 0;
}
template <class T>
int make(T* made) {
  *made = std::bit_cast<T>(uint64_t{1});
  return 0;
}
inline int describe(int, gpu::GpuInfo* info) {
  info->name = "fake", info->runtime = "fake", info->bus_address = "0000:01:00.0";
  return 0;
}
inline int device_count(int* count) { return *count = 1, 0; }
inline int memory_info(size_t* free, size_t* total) { return *free = *total = size_t{1} << 30, 0; }
inline int allocate(gpu::Address* address, size_t bytes) {
  *address = std::bit_cast<gpu::Address>(std::aligned_alloc(256, (bytes + 255) / 256 * 256));
  return 0;
}
inline int release(gpu::Address address) { return std::free(gpu::device_pointer(address)), 0; }
inline int upload(gpu::Address to, const void* from, size_t bytes, gpu::Stream) {
  return std::memcpy(gpu::device_pointer(to), from, bytes), 0;
}
inline int download(void* to, gpu::Address from, size_t bytes, gpu::Stream) {
  return std::memcpy(to, gpu::device_pointer(from), bytes), 0;
}
inline int fill(gpu::Address to, uint8_t value, size_t bytes, gpu::Stream) {
  return std::memset(gpu::device_pointer(to), value, bytes), 0;
}
inline int elapsed(float* ms, gpu::Event, gpu::Event) { return *ms = 1, 0; }
inline int capture_end(gpu::Stream, gpu::Graph* graph) { return ++fake_state().captures, make(graph); }
inline int graph_nodes(gpu::Graph, size_t* count) { return *count = fake_state().nodes, 0; }
inline int instantiate(gpu::ExecutableGraph* executable, gpu::Graph) { return make(executable); }
inline int context_create(gpu::Context* context, int) { return make(context); }

inline Result<gpu::SensorDevice> sensor_device(const std::string& bus_address) {
  if (bus_address != "0000:01:00.0") return fail("no device at '{}'", bus_address);
  return &fake_state();
}
inline SensorReading read_sensors(gpu::SensorDevice) {
  fake_state().reading.energy_j += 1;
  return fake_state().reading;
}
inline Result<const gpu::Sensors*> sensors() {
  static constexpr gpu::Sensors table{"fake", sensor_device, read_sensors};
  if (!fake_state().no_sensors.empty()) return fail("{}", fake_state().no_sensors);
  return &table;
}

}  // namespace fake

inline const gpu::Runtime& fake_runtime() {
  static const gpu::Runtime table{.name = "fake",
                                  .error_text = [](int) { return "a fault"; },
                                  .device_count = fake::device_count,
                                  .describe = fake::describe,
                                  .sensors = fake::sensors,
                                  .context_create = fake::context_create,
                                  .context_destroy = fake::grant,
                                  .context_use = fake::grant,
                                  .synchronize = fake::granted,
                                  .memory_info = fake::memory_info,
                                  .allocate = fake::allocate,
                                  .release = fake::release,
                                  .upload = fake::upload,
                                  .download = fake::download,
                                  .fill = fake::fill,
                                  .stream_create = fake::make,
                                  .stream_destroy = fake::grant,
                                  .stream_synchronize = fake::grant,
                                  .event_create = fake::make,
                                  .event_destroy = fake::grant,
                                  .event_record = fake::grant,
                                  .event_elapsed_ms = fake::elapsed,
                                  .module_unload = fake::grant,
                                  .launch = fake::grant,
                                  .capture_begin = fake::grant,
                                  .capture_end = fake::capture_end,
                                  .graph_nodes = fake::graph_nodes,
                                  .graph_instantiate = fake::instantiate,
                                  .graph_destroy = fake::grant,
                                  .executable_destroy = fake::grant,
                                  .graph_launch = fake::grant};
  return table;
}

inline std::shared_ptr<gpu::Gpu> fake_gpu() {
  fake_state() = {};
  return *gpu::Gpu::open(fake_runtime(), 0);
}

}  // namespace rung::testing
