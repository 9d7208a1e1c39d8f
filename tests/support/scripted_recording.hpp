// A recording as a profiler would have made it, of a program that the test tells: one host thread, one stream at first.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>

#include "trace/recording/recording.hpp"

namespace rung::trace {

// The host's clock runs with what it does; a kernel starts when it is launched and the stream is free.
class ScriptedRecording {
 public:
  ScriptedRecording() {
    recording_.format = "test";
    recording_.lanes = {Lane{false, -1, 1, 1, "main"}, Lane{true, 0, 1, 7, "stream 7"}};
    recording_.device_names = {"Test GPU"};
  }

  // The host is busy with what no event tells.
  ScriptedRecording& host(double us) { return host_ns_ += ns(us), *this; }

  // An operation around what `body` does; it takes `us` of its own.
  template <class Body>
  ScriptedRecording& op(std::string_view name, const Body& body, const OperandTexts& operands = {}, double us = 1) {
    return around(EventKind::host_op, name, body, detail_of(recording_.operands, operands), us);
  }
  template <class Body>
  ScriptedRecording& range(std::string_view name, const Body& body) {
    return around(EventKind::range, name, body, 0, 0);
  }

  ScriptedRecording& kernel(std::string_view name, double us, const LaunchShape& shape = {}) {
    const uint32_t link = call("cudaLaunchKernel", kCallUs);
    return on_device(EventKind::kernel, name, us, link, detail_of(recording_.launches, shape));
  }
  // Kernels of a graph: one call of `call_us`, many kernels behind it.
  ScriptedRecording& graph(std::initializer_list<std::pair<std::string_view, double>> kernels,
                           double call_us = kCallUs) {
    std::vector<Node> nodes;
    for (const auto& [name, us] : kernels) nodes.push_back({name, us, {}});
    return graph(nodes, "cudaGraphLaunch", call_us);
  }
  struct Node {
    std::string_view name;
    double us;
    LaunchShape shape;
  };
  ScriptedRecording& graph(const std::vector<Node>& nodes, std::string_view call_name, double call_us = kCallUs) {
    const uint32_t link = call(call_name, call_us);
    for (const Node& node : nodes)
      on_device(EventKind::kernel, node.name, node.us, link, detail_of(recording_.launches, node.shape));
    return *this;
  }
  // A copy; where it blocks, the host waits for its end inside the call.
  ScriptedRecording& copy(const CopyShape& shape, double us, bool blocks) {
    const int64_t start = host_ns_;
    const uint32_t link = call(blocks ? "cudaMemcpy" : "cudaMemcpyAsync", kCallUs);
    const std::string_view name =
        shape.host_to_device ? "Memcpy HtoD" : (shape.device_to_host ? "Memcpy DtoH" : "Memcpy DtoD");
    on_device(EventKind::copy, name, us, link, detail_of(recording_.copies, shape));
    if (blocks) extend_call(link, start);
    return *this;
  }
  // A copy in a call of this name and length, which the host leaves when it likes.
  ScriptedRecording& copy_in_call(std::string_view name, const CopyShape& shape, double us, double call_us) {
    const uint32_t link = call(name, call_us);
    return on_device(EventKind::copy, "Memcpy", us, link, detail_of(recording_.copies, shape));
  }
  ScriptedRecording& synchronize(std::string_view name = "cudaStreamSynchronize") {
    const int64_t start = host_ns_;
    extend_call(call(name, kCallUs), start);
    return *this;
  }
  // What is launched from here on goes to this stream, which waits for no other.
  ScriptedRecording& on_stream(int64_t stream, int device = 0) {
    const auto is_it = [&](const Lane& l) { return l.on_device && l.device == device && l.thread == stream; };
    const auto known = std::ranges::find_if(recording_.lanes, is_it);
    stream_ = static_cast<uint16_t>(known - recording_.lanes.begin());
    if (known == recording_.lanes.end()) {
      recording_.lanes.push_back({true, device, 1, stream, ""});
      stream_ns_.push_back(0);
    }
    return *this;
  }
  // The name of device 0.
  ScriptedRecording& on(std::string_view device) { return recording_.device_names = {std::string(device)}, *this; }
  // What the device needs from one piece of work to the next, from here on.
  ScriptedRecording& device_pause(double us) { return pause_ns_ = ns(us), *this; }
  // Any other call of the runtime: "cudaMalloc".
  ScriptedRecording& runtime_call(std::string_view name, double us) { return call(name, us), *this; }

  // By start, as readers give it.
  Recording finish() {
    std::ranges::stable_sort(recording_.events, [](const Event& a, const Event& b) {
      return a.start_ns != b.start_ns ? a.start_ns < b.start_ns : a.duration_ns > b.duration_ns;
    });
    return std::move(recording_);
  }

  OperandTexts operands(std::string_view shapes, std::string_view types, std::string_view strides = "",
                        std::string_view values = "") {
    StringPool& pool = recording_.strings;
    return {pool.number_of(shapes), pool.number_of(strides), pool.number_of(types), pool.number_of(values)};
  }

 private:
  static constexpr double kCallUs = 4;      // a launch on the host
  static constexpr double kToDeviceUs = 2;  // from the call's end to the work's start on an idle stream

  static int64_t ns(double us) { return std::llround(us * 1e3); }

  template <class T>
  static uint32_t detail_of(std::vector<T>& table, const T& value) {
    if (value == T{}) return 0;
    table.push_back(value);
    return static_cast<uint32_t>(table.size() - 1);
  }

  template <class Body>
  ScriptedRecording& around(EventKind kind, std::string_view name, const Body& body, uint32_t detail, double us) {
    const size_t at = add({host_ns_, 0, recording_.strings.number_of(name), 0, detail, 0, kind});
    host_ns_ += ns(us / 2);
    body();
    host_ns_ += ns(us / 2);
    recording_.events[at].duration_ns = host_ns_ - recording_.events[at].start_ns;
    return *this;
  }

  uint32_t call(std::string_view name, double us) {
    const uint32_t link = ++links_;
    add({host_ns_, ns(us), recording_.strings.number_of(name), link, 0, 0, EventKind::runtime_call});
    host_ns_ += ns(us);
    return link;
  }
  void extend_call(uint32_t link, int64_t start) {
    for (const int64_t end : stream_ns_) host_ns_ = std::max(host_ns_, end);
    for (Event& event : recording_.events)
      if (event.link == link && event.kind == EventKind::runtime_call) event.duration_ns = host_ns_ - start;
  }
  ScriptedRecording& on_device(EventKind kind, std::string_view name, double us, uint32_t link, uint32_t detail) {
    const int64_t start = std::max(host_ns_ + ns(kToDeviceUs), stream_ns_[stream_] + pause_ns_);
    add({start, ns(us), recording_.strings.number_of(name), link, detail, stream_, kind});
    stream_ns_[stream_] = start + ns(us);
    return *this;
  }
  size_t add(const Event& event) { return recording_.events.push_back(event), recording_.events.size() - 1; }

  Recording recording_;
  int64_t host_ns_ = 1'000'000, pause_ns_ = 0;
  std::vector<int64_t> stream_ns_{0, 0};  // by lane: the end of its last work
  uint16_t stream_ = 1;                   // the lane of what is launched
  uint32_t links_ = 0;
};

}  // namespace rung::trace
