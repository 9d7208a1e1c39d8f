// One event of a trace in Chrome's format ("Trace Event Format"), as the texts of its fields; the recorder interprets
// them.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <string_view>

#include "trace/recording/json_cursor.hpp"

namespace rung::trace {

enum class Field : uint8_t { phase, category, name, process, thread, start, duration, id, count };

// Arguments in "args": Kineto's, then those of rung's own profile, rocprof's, XLA's; `name` belongs to metadata.
enum class Argument : uint8_t {
  correlation,
  device,
  stream,
  grid,
  block,
  registers,
  shared_bytes,
  bytes,
  shapes,
  strides,
  types,
  values,
  ranks,
  elements_in,
  elements_out,
  element_type,
  name,
  kernel,
  problem,
  begin_ns,
  end_ns,
  gpu,
  queue,
  hip_stream,
  hip_process,
  xla_correlation,
  kernel_details,
  copy_details,
  fill_details,
  step,
  count
};

struct ChromeEvent {
  std::array<std::string_view, static_cast<size_t>(Field::count)> fields;        // JSON; empty: missing
  std::array<std::string_view, static_cast<size_t>(Argument::count)> arguments;  // JSON; empty: missing

  std::string_view operator[](Field field) const { return fields[static_cast<size_t>(field)]; }
  std::string_view operator[](Argument argument) const { return arguments[static_cast<size_t>(argument)]; }
};

Scan scan_event(JsonCursor& cursor, ChromeEvent& event);

}  // namespace rung::trace
