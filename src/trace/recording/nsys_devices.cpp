// Older versions have no table of a process's visible devices: CUDA's number is then the device's.
// SPDX-License-Identifier: Apache-2.0
#include "trace/recording/nsys_devices.hpp"

#include <array>

namespace rung::trace {
namespace {

constexpr size_t kMostRows = 4096;

template <class F>
Status for_each_row(SqliteFile& file, const std::string& table, std::span<const std::string_view> columns, F take) {
  RUNG_TRY(const bool there, file.has_table(table));
  if (!there) return {};
  RUNG_TRY(SqliteRows rows, file.read(table, columns));
  for (size_t row = 0; row < kMostRows; ++row) {
    RUNG_TRY(const bool more, rows.next());
    if (!more) break;
    take(rows);
  }
  return {};
}

}  // namespace

Status NsysDevices::read(SqliteFile& file) {
  constexpr std::array<std::string_view, 3> kSeen{"pid", "cudaId", "gpuId"};
  RUNG_CHECK(for_each_row(file, "TARGET_INFO_CUDA_DEVICE", kSeen, [&](const SqliteRows& rows) {
    const auto process = rows.integer(0), device = rows.integer(1), gpu = rows.integer(2);
    if (process && device && gpu) of_processes_[{*process, *device}] = *gpu;
  }));
  constexpr std::array<std::string_view, 3> kGpus{"id", "cuDevice", "name"};
  return for_each_row(file, "TARGET_INFO_GPU", kGpus, [&](const SqliteRows& rows) {
    const auto id = rows.integer(0), cuda = rows.integer(1);
    const auto number = of_processes_.empty() && cuda ? cuda : id;
    if (number) names_[*number] = rows.text(2);
  });
}

int64_t NsysDevices::number_of(int64_t process, int64_t device) const {
  const auto known = of_processes_.find({process, device});
  return known == of_processes_.end() ? device : known->second;
}

void NsysDevices::name(RecordingBuilder& builder) const {
  for (const auto& [number, name] : names_)
    if (number >= 0) builder.name_device(static_cast<size_t>(number), name);
}

}  // namespace rung::trace
