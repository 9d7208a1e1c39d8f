// Maps categories of the events that rocprofv3 and rocprof-sys write into Perfetto traces to their meanings.
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
  device,    // kernels and copies alike: the event decides
  call,      // a runtime call
  hsa_call,  // within a HIP call
  range,
  operation,  // an operation of a library
};

struct PerfettoCategory {
  std::string_view name;
  PerfettoTool tool;
  PerfettoMeaning meaning;
  std::string_view left_out_as;
};

// Returns null for an unknown category.
const PerfettoCategory* perfetto_category(std::string_view name);

}  // namespace rung::trace
