// Tells traces, logs and tuning files apart, and reads each.
// SPDX-License-Identifier: Apache-2.0
#include "stacks/gemm_list.hpp"

#include <filesystem>

#include "stacks/files/format.hpp"
#include "stacks/gemm_log.hpp"
#include "trace/recording/byte_source.hpp"
#include "trace/recording/read.hpp"

namespace rung::stacks {
namespace {

constexpr size_t kHeadBytes = size_t{1} << 20;
constexpr size_t kMostNamed = 20;  // lines that cannot be read, listed individually

enum class Kind : uint8_t { trace, log, tuning_file };

// A trace is JSON, compressed or not, or a folder; tuning files are neither.
Result<Kind> kind_of(const std::string& path) {
  std::error_code unknown;
  if (std::filesystem::is_directory(path, unknown)) return Kind::trace;
  RUNG_TRY(auto source, trace::ByteSource::open(path));
  std::string head(kHeadBytes, ' ');
  RUNG_TRY(const size_t got, source.read(head.data(), head.size()));
  head.resize(got);
  if (looks_like_gemm_log(head)) return Kind::log;
  const size_t first = head.find_first_not_of(" \t\r\n");
  return source.packed() || (first != head.npos && (head[first] == '{' || head[first] == '[')) ? Kind::trace
                                                                                               : Kind::tuning_file;
}

Result<GemmList> list_of_tuning_file(const std::string& path) {
  RUNG_TRY(const auto file, read_tuning_file(path));
  GemmList list;
  list.source = file.format->name;
  for (const auto& entry : file.entries) {
    if (entry.shape)
      list.add(*entry.shape);
    else
      list.remark("no matrix product");
  }
  for (size_t i = 0; i < file.refused.size(); ++i)
    list.remark(i < kMostNamed ? fmt::format("line {}: {}", file.refused[i].line, file.refused[i].text)
                               : "further lines that cannot be read");
  return list;
}

}  // namespace

void GemmList::add(GemmShape shape) {
  const int64_t count = std::exchange(shape.count, 1);
  const auto [place, is_new] = places_.try_emplace(shape, shapes_.size());
  if (is_new) shapes_.push_back(shape), shapes_.back().count = 0;
  shapes_[place->second].count += count;
}

Result<GemmList> read_gemm_list(const std::string& path) {
  RUNG_TRY(const Kind kind, kind_of(path));
  GemmList list;
  if (kind == Kind::trace) {
    RUNG_TRY(const trace::Recording recording, trace::read_recording(path));
    list = gemms_of(recording);
  } else {
    auto read = kind == Kind::log ? read_gemm_log(path) : list_of_tuning_file(path);
    if (!read && kind != Kind::log)  // may be a server's log, which begins with other lines
      if (auto log = read_gemm_log(path); log && !log->shapes().empty()) read = std::move(log);
    if (!read) return read;
    list = std::move(*read);
  }
  if (!list.shapes().empty()) return list;
  std::string remark = list.remarks().empty() ? "" : ": " + list.remarks().begin()->first;
  if (kind == Kind::trace && remark.empty()) remark = ": record it with record_shapes=True, and without a CUDA graph";
  return bad_file("'{}' has no matrix products{}", path, remark);
}

}  // namespace rung::stacks
