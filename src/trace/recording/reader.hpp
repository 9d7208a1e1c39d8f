// A reader of one format of profilers' files: a file with the reader and a row of readers.inc.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <string_view>

#include "base/status.hpp"
#include "trace/recording/recording.hpp"

namespace rung::trace {

struct TraceFile {
  std::string path;
  bool folder = false;
  std::string head;  // a regular file's first bytes, at most 64 KiB, unpacked if gzip
};

struct TraceReader {
  std::string_view format;  // "PyTorch profiler's JSON": listed in the error for an unknown format
  bool (*looks_like)(const TraceFile& file);
  Result<Recording> (*read)(const std::string& path);  // its errors begin with the path
};

#define RUNG_TRACE_READER(name) extern const TraceReader name;
#include "trace/recording/readers.inc"
#undef RUNG_TRACE_READER

}  // namespace rung::trace
