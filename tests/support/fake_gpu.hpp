// A GPU without hardware: memory is the host's, launches run at once or when their graph does, everything else is
// granted until a launch faults; for tests of what surrounds kernels.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdlib>
#include <cstring>
#include <functional>
#include <vector>

#include "device/gpu/gpu.hpp"

namespace rung::testing {

using FakeWork = std::function<void()>;

// What its sensors tell, how many nodes its graphs have and which launch faults: set by a test.
struct FakeState {
  SensorReading reading;
  std::string no_sensors;  // why they cannot be opened
  size_t nodes = 0, captures = 0;
  size_t launches = 0;  // that ran, from a graph or not
  size_t fault_at = 0;  // the launch, counted from 1, that faults; 0: none
  bool dead = false;    // after a fault: every call fails
  std::vector<FakeWork>* recording = nullptr;
  std::vector<std::vector<FakeWork>> graphs;
};
inline FakeState& fake_state() {
  static FakeState state;
  return state;
}

namespace fake {

constexpr int kFault = 700;

inline int alive() { return fake_state().dead ? kFault : 0; }
template <class... Arguments>
int grant(Arguments...) {
  return alive();
}
template <class T>
int make(T* made) {
  *made = std::bit_cast<T>(uint64_t{1});
  return alive();
}
inline int describe(int, gpu::GpuInfo* info) {
  info->name = "fake", info->runtime = "fake", info->bus_address = "0000:01:00.0";
  return 0;
}
inline int device_count(int* count) { return *count = 1, 0; }
inline int memory_info(size_t* free, size_t* total) { return *free = *total = size_t{1} << 30, alive(); }
inline int allocate(gpu::Address* address, size_t bytes) {
  *address = std::bit_cast<gpu::Address>(std::aligned_alloc(256, (bytes + 255) / 256 * 256));
  return alive();
}
inline int release(gpu::Address address) { return std::free(gpu::device_pointer(address)), alive(); }
inline int allocate_pinned(void** address, size_t bytes) { return *address = std::malloc(bytes), alive(); }
inline int release_pinned(void* address) { return std::free(address), alive(); }
inline int upload(gpu::Address to, const void* from, size_t bytes, gpu::Stream) {
  return std::memcpy(gpu::device_pointer(to), from, bytes), alive();
}
inline int download(void* to, gpu::Address from, size_t bytes, gpu::Stream) {
  return std::memcpy(to, gpu::device_pointer(from), bytes), alive();
}
inline int fill(gpu::Address to, uint8_t value, size_t bytes, gpu::Stream) {
  return std::memset(gpu::device_pointer(to), value, bytes), alive();
}
inline int elapsed(float* ms, gpu::Event, gpu::Event) { return *ms = 1, alive(); }
inline int context_create(gpu::Context* context, int) { return make(context); }

// A fault shows in the next call, as on a device: launches do not wait for what they start.
inline void run(const FakeWork& work) {
  FakeState& state = fake_state();
  if (state.dead) return;
  state.dead = ++state.launches == state.fault_at;
  if (!state.dead && work) work();
}
// Launches `work`, or records it: what a row's enqueue() calls in place of the runtime's launch.
inline int submit(FakeWork work) {
  if (int code = alive()) return code;
  if (auto* graph = fake_state().recording)
    graph->push_back(std::move(work));
  else
    run(work);
  return 0;
}
inline int launch(gpu::Function, const gpu::Launch&, void**, gpu::Stream) { return submit({}); }

inline int capture_begin(gpu::Stream) {
  fake_state().recording = &fake_state().graphs.emplace_back();
  return alive();
}
inline int capture_end(gpu::Stream, gpu::Graph* graph) {
  fake_state().recording = nullptr;
  ++fake_state().captures;
  *graph = std::bit_cast<gpu::Graph>(uint64_t{fake_state().graphs.size()});
  return alive();
}
inline int graph_nodes(gpu::Graph, size_t* count) { return *count = fake_state().nodes, alive(); }
inline int instantiate(gpu::ExecutableGraph* executable, gpu::Graph graph) { return *executable = graph, alive(); }
inline int graph_launch(gpu::ExecutableGraph executable, gpu::Stream) {
  if (int code = alive()) return code;
  for (const FakeWork& work : fake_state().graphs[std::bit_cast<uint64_t>(executable) - 1]) run(work);
  return 0;
}

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
                                  .is_fault = [](int code) { return code == fake::kFault; },
                                  .device_count = fake::device_count,
                                  .describe = fake::describe,
                                  .sensors = fake::sensors,
                                  .context_create = fake::context_create,
                                  .context_destroy = fake::grant,
                                  .context_use = fake::grant,
                                  .synchronize = fake::alive,
                                  .memory_info = fake::memory_info,
                                  .allocate = fake::allocate,
                                  .release = fake::release,
                                  .allocate_pinned = fake::allocate_pinned,
                                  .release_pinned = fake::release_pinned,
                                  .upload = fake::upload,
                                  .download = fake::download,
                                  .copy = fake::grant,
                                  .fill = fake::fill,
                                  .stream_create = fake::make,
                                  .stream_destroy = fake::grant,
                                  .stream_synchronize = fake::grant,
                                  .event_create = fake::make,
                                  .event_destroy = fake::grant,
                                  .event_record = fake::grant,
                                  .event_elapsed_ms = fake::elapsed,
                                  .module_unload = fake::grant,
                                  .launch = fake::launch,
                                  .capture_begin = fake::capture_begin,
                                  .capture_end = fake::capture_end,
                                  .graph_nodes = fake::graph_nodes,
                                  .graph_instantiate = fake::instantiate,
                                  .graph_destroy = fake::grant,
                                  .executable_destroy = fake::grant,
                                  .graph_launch = fake::graph_launch};
  return table;
}

inline std::shared_ptr<gpu::Gpu> fake_gpu() {
  fake_state() = {};
  return *gpu::Gpu::open(fake_runtime(), 0);
}

}  // namespace rung::testing
