// Asks each reader in turn whether the file has its format.
// SPDX-License-Identifier: Apache-2.0
#include "trace/recording/read.hpp"

#include <filesystem>

#include "base/guarded.hpp"
#include "trace/recording/byte_source.hpp"
#include "trace/recording/reader.hpp"
#include "trace/recording/trace_folder.hpp"

namespace rung::trace {
namespace {

constexpr size_t kHeadBytes = size_t{64} << 10;

constexpr const TraceReader* kTraceReaders[] = {
#define RUNG_TRACE_READER(name) &name,
#include "trace/recording/readers.inc"
#undef RUNG_TRACE_READER
};

Result<TraceFile> look_at(const std::string& path) {
  TraceFile file{path};
  std::error_code unknown;
  file.folder = std::filesystem::is_directory(path, unknown);
  if (file.folder) return file;
  RUNG_TRY(ByteSource source, ByteSource::open(path));
  file.head.resize(kHeadBytes);
  RUNG_TRY(const size_t got, source.read(file.head.data(), file.head.size()));
  file.head.resize(got);
  return file;
}

// Returns the first bytes as "7b 0a 20", because a terminal should not show them raw.
std::string first_bytes(const std::string& head) {
  std::string text;
  for (const char c : head.substr(0, 8)) text += fmt::format(" {:02x}", static_cast<unsigned char>(c));
  return text;
}

std::string known_formats() {
  std::string text;
  for (const TraceReader* reader : kTraceReaders) text += fmt::format("{}{}", text.empty() ? "" : ", ", reader->format);
  return text;
}

const TraceReader* reader_of(const TraceFile& file) {
  for (const TraceReader* reader : kTraceReaders)
    if (reader->looks_like(file)) return reader;
  return nullptr;
}

Result<Recording> read_file(const std::string& path) {
  RUNG_TRY(const TraceFile file, look_at(path));
  if (const TraceReader* reader = reader_of(file)) return errors_of(ErrorKind::file, reader->read(path));
  const std::string got =
      file.head.empty() ? "an empty file" : "a file that begins with the bytes" + first_bytes(file.head);
  return bad_file("'{}': got {}, wanted one of: {}", path, got, known_formats());
}

// Returns whether a file in a folder is a trace; other JSON may lie beside traces.
Result<bool> is_trace(const std::string& path) {
  RUNG_TRY(const TraceFile file, look_at(path));
  const TraceReader* reader = reader_of(file);
  const bool other_json =
      reader == &chrome_reader && file.head.find("\"traceEvents\"") == file.head.npos && !file.head.starts_with('[');
  return reader && !other_json;
}

Result<Recording> read_by_content(const std::string& path) {
  RUNG_TRY(const TraceFile file, look_at(path));
  if (!file.folder) return read_file(path);
  if (const TraceReader* reader = reader_of(file)) return errors_of(ErrorKind::file, reader->read(path));
  RUNG_TRY(const auto traces, traces_in_folder(path, is_trace));
  if (!traces.empty()) return read_together(path, traces, read_file);
  return bad_file("'{}': got a folder without a profiler's files, wanted one of: {}", path, known_formats());
}

}  // namespace

Result<Recording> read_recording(const std::string& path) {
  return guarded([&] { return read_by_content(path); });
}

void name_all_devices(Recording& recording, const std::string& card) {
  for (const Lane& lane : recording.lanes)
    if (lane.on_device && recording.device_names.size() <= static_cast<size_t>(lane.device))
      recording.device_names.resize(static_cast<size_t>(lane.device) + 1);
  for (std::string& name : recording.device_names) name = card;
}

}  // namespace rung::trace
