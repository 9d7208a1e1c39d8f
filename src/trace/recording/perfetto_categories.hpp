// Categories of the events that rocprofv3 and rocprof-sys write into Perfetto traces, and what becomes of events of
// each.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

#include "trace/recording/recording.hpp"

namespace rung::trace {

enum class PerfettoTool : uint8_t { rocprofv3, rocprof_sys };

enum class PerfettoMeaning : uint8_t {
  left_out,
  kernel,
  copy,
  device,    // kernels and copies alike: the event tells
  call,      // of the runtime
  hsa_call,  // within one of HIP
  range,
  operation,  // of a library
};

struct PerfettoCategory {
  std::string_view name;
  PerfettoTool tool;
  PerfettoMeaning meaning;
  std::string_view left_out_as;
};

// Null: not known.
const PerfettoCategory* perfetto_category(std::string_view name);

}  // namespace rung::trace
