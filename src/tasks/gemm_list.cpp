// Tells traces from tuning files, and reads either.
// SPDX-License-Identifier: Apache-2.0
#include "tasks/gemm_list.hpp"

#include "advise/trace/byte_source.hpp"
#include "advise/trace/read.hpp"
#include "advise/tuned/format.hpp"

namespace rung::tasks {
namespace {

using advise::tuned::GemmShape;

constexpr size_t kMostNamed = 20;  // lines that cannot be read, each by itself

// JSON, packed or not: tuning files are neither.
Result<bool> is_trace(const std::string& path) {
  RUNG_TRY(auto source, advise::ByteSource::open(path));
  std::string head(256, ' ');
  RUNG_TRY(const size_t got, source.read(head.data(), head.size()));
  const size_t first = std::string_view(head).substr(0, got).find_first_not_of(" \t\r\n");
  return source.packed() || (first != head.npos && (head[first] == '{' || head[first] == '['));
}

Result<GemmList> list_of_tuning_file(const std::string& path) {
  RUNG_TRY(const auto file, advise::tuned::read_tuning_file(path));
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
  RUNG_TRY(const bool trace, is_trace(path));
  GemmList list;
  if (trace) {
    RUNG_TRY(const advise::Recording recording, advise::read_recording(path));
    list = gemms_of(recording);
  } else {
    RUNG_TRY(list, list_of_tuning_file(path));
  }
  if (!list.shapes().empty()) return list;
  std::string remark = list.remarks().empty() ? "" : ": " + list.remarks().begin()->first;
  if (trace && remark.empty()) remark = ": record it with record_shapes=True, and without a CUDA graph";
  return bad_file("'{}': no matrix products in it{}", path, remark);
}

}  // namespace rung::tasks
