// A GPU without hardware: memory is the host's, launches run at once or when their graph does, everything else is
// granted until a launch faults. Its streams can be lazy: then they do nothing until someone waits for them, so that
// what nobody waits for never is. Calls from a thread on which its context is not current are refused, as a driver
// does, and so is what a stream that is being recorded cannot take; for tests of what surrounds kernels. Of the modules
// in this build one kernel does its work: the copy of what is bound to a session.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "device/gpu/queue.hpp"
#include "kernels/gpu/copy/copy_ranges_arguments.hpp"

namespace rung::testing {

using FakeWork = std::function<void()>;

// What its sensors tell, how many nodes its graphs have and which launch faults: set by a test.
struct FakeState {
  SensorReading reading;
  std::string no_sensors;  // why they cannot be opened
  size_t nodes = 0, captures = 0;
  size_t recording = 0;                           // streams that are being recorded now
  size_t launches = 0;                            // that ran, from a graph or not
  size_t fault_at = 0;                            // the launch, counted from 1, that faults; 0: none
  size_t uploads = 0, downloads = 0, copies = 0;  // that were asked for, one by one
  size_t copied_ranges = 0, copy_launches = 0;    // that were copied by launches, and those
  size_t refused = 0;                             // calls without the context, or of a stream that is being recorded
  bool dead = false;                              // after a fault: every call fails
  std::set<gpu::Address> foreign;                 // what kernels do not reach; set by a test
  bool lazy = false;                              // streams work only for who waits for them; set by a test
  std::deque<std::vector<FakeWork>> graphs;
};
inline FakeState& fake_state() {
  static FakeState state;
  return state;
}

namespace fake {

enum Code { kFault = 700, kMisaligned = 716, kNoContext = 201, kRecording = 900 };
constexpr size_t kCacheBytes = size_t{3} << 20;  // second level

inline std::mutex mutex;                             // guards the state; threads call as they like
inline std::set<gpu::Context> contexts;              // of devices that are open
inline thread_local gpu::Context current = nullptr;  // of this thread

struct FakeStream {
  gpu::Context context;
  std::vector<FakeWork>* recording = nullptr;
  std::thread::id recorder = {};    // other threads launch nothing into the graph
  std::deque<FakeWork> ahead = {};  // of a lazy one
  size_t put = 0, done = 0;
};
struct FakeEvent {
  FakeStream* stream = nullptr;  // where it was recorded last; null: nowhere
  size_t behind = 0;             // of its work
};
inline std::map<gpu::Event, FakeEvent> events;
inline FakeStream default_stream{};  // of all devices
inline FakeStream* stream_of(gpu::Stream stream) {
  if (stream) return static_cast<FakeStream*>(stream);
  default_stream.context = current;
  return &default_stream;
}

inline const char* error_text(int code) {
  return code == kNoContext   ? "the context is not current"
         : code == kRecording ? "the stream is being recorded"
                              : "a fault";
}
inline int refuse(Code code) { return ++fake_state().refused, code; }
inline int alive_locked() {
  if (fake_state().dead) return kFault;
  return contexts.contains(current) ? 0 : refuse(kNoContext);
}
inline int alive() {
  std::lock_guard lock(mutex);
  return alive_locked();
}
// What a stream that is being recorded takes or not.
enum class Recorded { yes, no };
inline int in_stream(gpu::Stream stream, Recorded recorded) {
  auto* of = stream_of(stream);
  if (int code = alive_locked()) return code;
  if (of->context != current) return refuse(kNoContext);
  bool may = !of->recording || (recorded == Recorded::yes && of->recorder == std::this_thread::get_id());
  return may ? 0 : refuse(kRecording);
}
// Work of the stream: now, or when a lazy one comes to it.
template <class Work>
int put(gpu::Stream stream, Work work) {
  {
    std::lock_guard lock(mutex);
    if (int code = in_stream(stream, Recorded::no)) return code;
    if (fake_state().lazy) return stream_of(stream)->ahead.emplace_back(work), ++stream_of(stream)->put, 0;
  }
  return work(), 0;
}
inline void drain(FakeStream* stream, size_t until) {
  while (true) {
    FakeWork work;
    {
      std::lock_guard lock(mutex);
      if (stream->done >= until) return;
      work = std::move(stream->ahead.front());
      stream->ahead.pop_front(), ++stream->done;
    }
    work();
  }
}
inline int synchronize(gpu::Stream stream) {
  size_t all = 0;
  {
    std::lock_guard lock(mutex);
    if (int code = in_stream(stream, Recorded::no)) return code;
    all = stream_of(stream)->put;
  }
  drain(stream_of(stream), all);
  return alive();
}
inline void wait_for_event(const FakeEvent& event) {
  if (event.stream) drain(event.stream, event.behind);
}
inline FakeEvent event_at(gpu::Event event) {
  std::lock_guard lock(mutex);
  return events[event];
}
inline int event_synchronize(gpu::Event event) {
  if (int code = alive()) return code;
  wait_for_event(event_at(event));
  return alive();
}
inline int stream_wait(gpu::Stream stream, gpu::Event event) {
  return put(stream, [now = event_at(event)] { wait_for_event(now); });
}
inline void count(size_t FakeState::*what, size_t more = 1) {
  std::lock_guard lock(mutex);
  fake_state().*what += more;
}
template <class... Arguments>
int grant(Arguments...) {
  return alive();
}
inline int describe(int, gpu::GpuInfo* info) {
  info->name = "fake", info->runtime = "fake", info->bus_address = "0000:01:00.0", info->l2_bytes = kCacheBytes;
  return 0;
}
inline int device_count(int* count) { return *count = 1, 0; }
inline int memory_info(size_t* free, size_t* total) { return *free = *total = size_t{1} << 30, alive(); }
inline int allocate(gpu::Address* address, size_t bytes) {
  *address = std::bit_cast<gpu::Address>(std::aligned_alloc(256, (bytes + 255) / 256 * 256));
  return alive();
}
// What was refused stays, as on a device.
inline int release(gpu::Address address) {
  int code = alive();
  if (code != kNoContext) std::free(gpu::device_pointer(address));
  return code;
}
inline int allocate_pinned(void** address, size_t bytes) {
  const int code = alive();
  return *address = code ? nullptr : std::aligned_alloc(256, (bytes + 255) / 256 * 256), code;
}
inline int release_pinned(void* address) { return std::free(address), alive(); }
inline int reaches(bool* answer, gpu::Address address) {
  std::lock_guard lock(mutex);
  return *answer = !fake_state().foreign.contains(address), alive_locked();
}
inline int upload(gpu::Address to, const void* from, size_t bytes, gpu::Stream stream) {
  count(&FakeState::uploads);
  return put(stream, [=] { std::memcpy(gpu::device_pointer(to), from, bytes); });
}
inline int download(void* to, gpu::Address from, size_t bytes, gpu::Stream stream) {
  count(&FakeState::downloads);
  return put(stream, [=] { std::memcpy(to, gpu::device_pointer(from), bytes); });
}
inline int fill(gpu::Address to, uint8_t value, size_t bytes, gpu::Stream stream) {
  return put(stream, [=] { std::memset(gpu::device_pointer(to), value, bytes); });
}
inline int copy(gpu::Address to, gpu::Address from, size_t bytes, gpu::Stream stream) {
  count(&FakeState::copies);
  return put(stream, [=] { std::memcpy(gpu::device_pointer(to), gpu::device_pointer(from), bytes); });
}
inline int event_create(gpu::Event* event) {
  static uint64_t made = 0;
  std::lock_guard lock(mutex);
  *event = std::bit_cast<gpu::Event>(++made);
  return events[*event] = {}, alive_locked();
}
inline int event_destroy(gpu::Event event) {
  std::lock_guard lock(mutex);
  return events.erase(event), alive_locked();
}
inline int record_event(gpu::Event event, gpu::Stream stream) {
  std::lock_guard lock(mutex);
  if (int code = in_stream(stream, Recorded::yes)) return code;
  FakeStream* of = stream_of(stream);
  if (!of->recording) events[event] = {of, of->put};
  return 0;
}
inline int elapsed(float* ms, gpu::Event, gpu::Event) { return *ms = 1, alive(); }

inline int context_create(gpu::Context* context, int) {
  static uint64_t made = 0;
  std::lock_guard lock(mutex);
  *context = std::bit_cast<gpu::Context>(++made);
  return contexts.insert(*context), 0;
}
inline int context_destroy(gpu::Context context) {
  std::lock_guard lock(mutex);
  return contexts.erase(context), 0;
}
inline int context_use(gpu::Context context) { return current = context, 0; }
inline int context_current(gpu::Context* context) { return *context = current, 0; }

inline int stream_create(gpu::Stream* stream) {
  int code = alive();
  return *stream = code ? nullptr : new FakeStream{current}, code;
}
// Its work is done all the same.
inline int stream_destroy(gpu::Stream stream) {
  int code = synchronize(stream);
  std::lock_guard lock(mutex);
  for (auto& [number, event] : events)
    if (event.stream == stream_of(stream)) event.stream = nullptr;
  return delete static_cast<FakeStream*>(stream), code;
}

// A fault shows in the next call, as on a device: launches do not wait for what they start.
inline void run(const FakeWork& work) {
  {
    std::lock_guard lock(mutex);
    FakeState& state = fake_state();
    if (state.dead) return;
    state.dead = ++state.launches == state.fault_at;
    if (state.dead) return;
  }
  if (work) work();
}
// Launches `work`, or records it: what a row's enqueue() calls in place of the runtime's launch.
inline int submit(gpu::Stream stream, FakeWork work) {
  {
    std::lock_guard lock(mutex);
    if (int code = in_stream(stream, Recorded::yes)) return code;
    if (auto* graph = stream_of(stream)->recording) return graph->push_back(std::move(work)), 0;
  }
  return put(stream, [work = std::move(work)] { run(work); });
}
// A function is its name.
inline int module_load(gpu::Module* module, const void* image) { return *module = const_cast<void*>(image), alive(); }
inline int module_function(gpu::Function* function, gpu::Module, const char* name) {
  static std::set<std::string> names;
  std::lock_guard lock(mutex);
  return *function = const_cast<std::string*>(&*names.insert(name).first), alive_locked();
}
// What the kernel does: whole units, of the pieces that there are blocks for.
inline int copy_ranges(const gpu::CopyRangesArguments& arguments, const gpu::Extent& grid, gpu::Stream stream) {
  count(&FakeState::copy_launches), count(&FakeState::copied_ranges, grid.y);
  for (size_t i = 0; i < grid.y; ++i) {
    const gpu::CopiedRange& range = arguments.ranges[i];
    if ((range.from | range.to) % range.unit != 0) return kMisaligned;
  }
  return put(stream, [arguments, grid] {
    for (size_t i = 0; i < grid.y; ++i) {
      const auto& [from, to, bytes, unit] = arguments.ranges[i];
      const uint64_t reached = std::min(bytes, uint64_t{grid.x} * gpu::kCopiedPiece);
      std::memcpy(gpu::device_pointer(to), gpu::device_pointer(from), reached / unit * unit);
    }
  });
}
inline int launch(gpu::Function function, const gpu::Launch& shape, void** parameters, gpu::Stream stream) {
  if (!function || *static_cast<const std::string*>(function) != "copy_ranges") return submit(stream, {});
  return copy_ranges(*static_cast<const gpu::CopyRangesArguments*>(*parameters), shape.grid, stream);
}

inline int capture_begin(gpu::Stream stream) {
  std::lock_guard lock(mutex);
  if (int code = in_stream(stream, Recorded::no)) return code;
  auto* of = static_cast<FakeStream*>(stream);
  of->recording = &fake_state().graphs.emplace_back(), of->recorder = std::this_thread::get_id();
  return ++fake_state().recording, 0;
}
// The graph of a device that failed is there, and good for nothing.
inline int capture_end(gpu::Stream stream, gpu::Graph* graph) {
  std::lock_guard lock(mutex);
  auto* of = static_cast<FakeStream*>(stream);
  if (!of->recording || of->recorder != std::this_thread::get_id()) return refuse(kRecording);
  const auto& graphs = fake_state().graphs;
  uint64_t number = 1;
  while (&graphs[number - 1] != of->recording) ++number;
  of->recording = nullptr;
  --fake_state().recording, ++fake_state().captures;
  return *graph = std::bit_cast<gpu::Graph>(number), alive_locked();
}
inline int graph_nodes(gpu::Graph, size_t* count) { return *count = fake_state().nodes, alive(); }
inline int instantiate(gpu::ExecutableGraph* executable, gpu::Graph graph) { return *executable = graph, alive(); }
inline int graph_launch(gpu::ExecutableGraph executable, gpu::Stream stream) {
  const std::vector<FakeWork>* graph = nullptr;
  {
    std::lock_guard lock(mutex);
    if (int code = in_stream(stream, Recorded::no)) return code;
    graph = &fake_state().graphs[std::bit_cast<uint64_t>(executable) - 1];
  }
  return put(stream, [graph] {
    for (const FakeWork& work : *graph) run(work);
  });
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
                                  .error_text = [](int code) { return fake::error_text(code); },
                                  .is_fault = [](int code) { return code == fake::kFault; },
                                  .device_count = fake::device_count,
                                  .describe = fake::describe,
                                  .sensors = fake::sensors,
                                  .context_create = fake::context_create,
                                  .context_destroy = fake::context_destroy,
                                  .context_use = fake::context_use,
                                  .context_current = fake::context_current,
                                  .memory_info = fake::memory_info,
                                  .allocate = fake::allocate,
                                  .release = fake::release,
                                  .allocate_pinned = fake::allocate_pinned,
                                  .release_pinned = fake::release_pinned,
                                  .reaches = fake::reaches,
                                  .upload = fake::upload,
                                  .download = fake::download,
                                  .copy = fake::copy,
                                  .fill = fake::fill,
                                  .stream_create = fake::stream_create,
                                  .stream_destroy = fake::stream_destroy,
                                  .stream_synchronize = fake::synchronize,
                                  .stream_wait = fake::stream_wait,
                                  .event_create = fake::event_create,
                                  .event_create_untimed = fake::event_create,
                                  .event_destroy = fake::event_destroy,
                                  .event_record = fake::record_event,
                                  .event_synchronize = fake::event_synchronize,
                                  .event_elapsed_ms = fake::elapsed,
                                  .module_load = fake::module_load,
                                  .module_unload = fake::grant,
                                  .module_function = fake::module_function,
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
