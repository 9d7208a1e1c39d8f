// Reads the JSON that `rocprof --hip-trace` and `--sys-trace` write beside their lists: numbers are strings.
// SPDX-License-Identifier: Apache-2.0
#include "trace/recording/chrome_document.hpp"
#include "trace/recording/reader.hpp"
#include "trace/recording/rocprof_trace.hpp"

namespace rung::trace {
namespace {

// Looks for names of rows, which precede the first event.
bool looks_like_rocprof_trace(const TraceFile& file) {
  const std::string_view text = chrome_text(file.head);
  for (const std::string_view name : {"\"CPU HIP API\"", "\"CPU HSA API\"", "\"Markers and Ranges\"", "\"BeginNs\""})
    if (text.find(name) != text.npos) return true;
  return false;
}

}  // namespace

const TraceReader rocprof_trace_reader{"rocprof's JSON", looks_like_rocprof_trace, read_chrome_document<RocprofTrace>};

}  // namespace rung::trace
