// The GPU without hardware, with a ledger: what was made and not given back, what was asked in which order, and a clock
// that only launches and copies turn.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "support/fake_gpu.hpp"

namespace rung::testing {

struct Ledger {
  std::map<std::string, int> held;  // by kind: made, less given back
  std::vector<std::string> calls;   // "record 2", "graph", "fill", "wait"
  std::vector<size_t> fills;        // bytes of each
  double launch_ms = 0.007;
  std::vector<double> copies_ms;          // of copies to come, on the device
  double clock_ms = 0;                    // of copies
  size_t free_bytes = size_t{1} << 30;    // of device memory
  std::map<gpu::Event, double> recorded;  // ms
  uint64_t made = 0;

  double now_ms() const { return clock_ms + launch_ms * static_cast<double>(fake_state().launches); }
  bool all_given_back() const {
    return std::all_of(held.begin(), held.end(), [](const auto& kind) { return kind.second == 0; });
  }
};
inline Ledger& ledger() {
  static Ledger all;
  return all;
}

namespace counting {

inline std::mutex ledger_mutex;  // copies come from several threads

inline void hold(const std::string& kind, int count) {
  std::lock_guard lock(ledger_mutex);
  ledger().held[kind] += count;
}
inline void note(std::string call) {
  std::lock_guard lock(ledger_mutex);
  ledger().calls.push_back(std::move(call));
}
inline int make_stream(gpu::Stream* stream) { return hold("stream", 1), fake::stream_create(stream); }
inline int make_context(gpu::Context* context, int device) {
  return hold("context", 1), fake::context_create(context, device);
}
inline int make_event(gpu::Event* event) {
  hold("event", 1);
  *event = std::bit_cast<gpu::Event>(uint64_t{++ledger().made});
  return fake::alive();
}
// What a kernel does not write is anything but zero; the blocks that peaks are measured on stay untouched.
inline int allocate(gpu::Address* address, size_t bytes) {
  int code = fake::allocate(address, bytes);
  std::memset(gpu::device_pointer(*address), 0xab, std::min(bytes, size_t{1} << 20));
  return hold("block", 1), code;
}
inline int allocate_pinned(void** address, size_t bytes) {
  return hold("pinned", 1), fake::allocate_pinned(address, bytes);
}
inline int memory_info(size_t* free, size_t* total) {
  return *free = ledger().free_bytes, *total = size_t{1} << 30, fake::alive();
}
inline int record(gpu::Event event, gpu::Stream stream) {
  ledger().recorded[event] = ledger().now_ms();
  return note("record " + std::to_string(std::bit_cast<uint64_t>(event))), fake::record_event(event, stream);
}
inline int elapsed(float* ms, gpu::Event from, gpu::Event to) {
  return *ms = static_cast<float>(ledger().recorded.at(to) - ledger().recorded.at(from)), fake::alive();
}
// Of the blocks that peaks are measured on, nothing is copied.
inline int copy(gpu::Address to, gpu::Address from, size_t bytes, gpu::Stream stream) {
  std::vector<double>& ms = ledger().copies_ms;
  if (!ms.empty()) ledger().clock_ms += ms.front(), ms.erase(ms.begin());
  return fake::copy(to, from, bytes < size_t{1} << 20 ? bytes : 0, stream);
}
inline int fill(gpu::Address to, uint8_t value, size_t bytes, gpu::Stream stream) {
  ledger().fills.push_back(bytes);
  return note("fill"), fake::fill(to, value, bytes, stream);
}
inline int end_capture(gpu::Stream stream, gpu::Graph* graph) {
  return hold("graph", 1), fake::capture_end(stream, graph);
}
inline int instantiate(gpu::ExecutableGraph* executable, gpu::Graph graph) {
  return hold("executable", 1), fake::instantiate(executable, graph);
}
inline int launch_graph(gpu::ExecutableGraph executable, gpu::Stream stream) {
  return note("graph"), fake::graph_launch(executable, stream);
}

}  // namespace counting

inline const gpu::Runtime& counting_runtime() {
  static const gpu::Runtime table = [] {
    gpu::Runtime made = fake_runtime();
    made.context_create = counting::make_context;
    made.context_destroy = [](gpu::Context context) {
      return counting::hold("context", -1), fake::context_destroy(context);
    };
    made.stream_create = counting::make_stream;
    made.stream_destroy = [](gpu::Stream stream) { return counting::hold("stream", -1), fake::stream_destroy(stream); };
    made.stream_synchronize = [](gpu::Stream stream) { return counting::note("wait"), fake::synchronize(stream); };
    made.event_synchronize = [](gpu::Event event) { return counting::note("wait"), fake::event_synchronize(event); };
    made.event_create = counting::make_event;
    made.event_create_untimed = counting::make_event;
    made.event_destroy = [](gpu::Event) { return counting::hold("event", -1), 0; };
    made.event_record = counting::record;
    made.event_elapsed_ms = counting::elapsed;
    made.memory_info = counting::memory_info;
    made.allocate = counting::allocate;
    made.release = [](gpu::Address address) { return counting::hold("block", -1), fake::release(address); };
    made.allocate_pinned = counting::allocate_pinned;
    made.release_pinned = [](void* address) { return counting::hold("pinned", -1), fake::release_pinned(address); };
    made.copy = counting::copy;
    made.fill = counting::fill;
    made.capture_end = counting::end_capture;
    made.graph_destroy = [](gpu::Graph) { return counting::hold("graph", -1), 0; };
    made.graph_instantiate = counting::instantiate;
    made.executable_destroy = [](gpu::ExecutableGraph) { return counting::hold("executable", -1), 0; };
    made.graph_launch = counting::launch_graph;
    return made;
  }();
  return table;
}

// With fake_state() and the ledger as new. The device before must be gone.
inline std::shared_ptr<gpu::Gpu> counting_gpu() {
  fake_state() = {};
  ledger() = {};
  return *gpu::Gpu::open(counting_runtime(), 0);
}

}  // namespace rung::testing
