// A profiler's recording in one form for all formats: work on devices, and the host's activity meanwhile.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "trace/recording/string_pool.hpp"

namespace rung::trace {

enum class EventKind : uint8_t {
  kernel,        // on a device
  copy,          // on a device
  fill,          // on a device
  host_op,       // an operation of a framework: "aten::mm"
  runtime_call,  // a call of a runtime or driver: "cudaLaunchKernel", "hipStreamSynchronize"
  range,         // named by the program or its framework: "ProfilerStep#3", NVTX, ROC-TX
  function,      // a Python function: only long ones, which show what occupies the host
};
constexpr bool is_on_device(EventKind kind) { return kind <= EventKind::fill; }

// Files hold millions of events, so every byte counts.
struct Event {
  int64_t start_ns = 0;
  int64_t duration_ns = 0;
  uint32_t name = 0;    // in Recording::strings
  uint32_t link = 0;    // shared by a runtime call and the device work that it started; 0: none
  uint32_t detail = 0;  // index: kernel in launches, copy in copies, host operation in operands; 0: unknown
  uint16_t lane = 0;    // in Recording::lanes
  EventKind kind = EventKind::kernel;

  int64_t end_ns() const { return start_ns + duration_ns; }
};
static_assert(sizeof(Event) == 32);

// A host thread, or a stream of a device.
struct Lane {
  bool on_device = false;
  int device = -1;      // on a device: its number
  int64_t process = 0;  // of the host
  int64_t thread = 0;   // or the stream's number
  std::string name;     // as the profiler gives it; may be empty
};

// The launch shape of a kernel; zeros if the profiler does not record it.
struct LaunchShape {
  std::array<uint32_t, 3> grid{}, block{};
  uint32_t registers = 0;     // of a thread
  uint32_t shared_bytes = 0;  // of a block
  bool operator==(const LaunchShape&) const = default;
};

enum class MemoryKind : uint8_t { unknown, device, pinned, pageable };
struct CopyShape {
  int64_t bytes = -1;  // unknown: -1
  MemoryKind from = MemoryKind::unknown, to = MemoryKind::unknown;
  bool host_to_device = false, device_to_host = false;
  bool operator==(const CopyShape&) const = default;
};

// Arguments of a framework's operation: JSON exactly as its profiler writes it (strings in the pool; 0: not recorded).
struct OperandTexts {
  uint32_t shapes = 0;   // "[[51,1024],[1024,1024],[]]"
  uint32_t strides = 0;  // in the same form
  uint32_t types = 0;    // "[\"c10::BFloat16\",\"c10::BFloat16\",\"Scalar\"]"
  uint32_t values = 0;   // of non-tensor arguments: "[\"\",\"\",\"1\"]"

  // Fields of a collective.
  uint32_t ranks = 0;          // in its group; unknown: 0
  int64_t message_bytes = -1;  // the larger of a rank's input and output; unknown: -1
  bool operator==(const OperandTexts&) const = default;
};

struct Recording {
  std::string format;         // "PyTorch profiler"
  StringPool strings;         // its first, 0, is empty
  std::vector<Event> events;  // by start; of equal starts the longer first
  std::vector<Lane> lanes;
  std::vector<LaunchShape> launches{1};   // the first means "unknown"
  std::vector<CopyShape> copies{1};       // the first means "unknown"
  std::vector<OperandTexts> operands{1};  // the first means "unknown"
  std::vector<std::string> device_names;  // by device number; may be shorter, or empty

  // Events that readers left out: reason -> number.
  std::map<std::string, int64_t, std::less<>> skipped;

  std::string_view name_of(const Event& event) const { return strings[event.name]; }
};

}  // namespace rung::trace
