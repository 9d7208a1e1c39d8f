// A CSV file of AMD's profilers (rocprof, rocprofv2, rocprofv3): its columns, in any order and of any version,
// determine its kind.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.hpp"
#include "trace/recording/csv_rows.hpp"

namespace rung::trace {

enum class AmdColumn : uint8_t {
  kernel,
  function,
  direction,
  domain,
  start,
  end,
  dispatched,  // when the host wrote the kernel's packet
  agent,
  source,
  destination,
  queue,
  stream,
  process,
  thread,
  correlation,
  grid_x,  // in work items
  grid_y,
  grid_z,
  block_x,
  block_y,
  block_z,
  shared_bytes,
  registers,
  accumulators,
  counter,
  calls,
  allocation,
  node,
  agent_type,
  name,
  product,
  count
};

enum class AmdTableKind : uint8_t {
  kernels,
  copies,
  calls,  // also ranges
  agents,
  counters,
  allocations,
  summary,  // totals by name, without times
  other,
};

class AmdTable {
 public:
  // Determines the kind from a header. `other`: unknown.
  static AmdTableKind kind_of(const std::vector<std::string>& header);

  // Errors: those of CsvRows, and a missing column that the file's kind requires.
  static Result<AmdTable> open(const std::string& path);
  AmdTableKind kind() const { return kind_; }
  bool has(AmdColumn column) const { return places_[static_cast<size_t>(column)] >= 0; }

  // Returns false at the end. A row whose number of fields differs from the header's is `broken`.
  Result<bool> next();
  bool broken() const { return fields_->size() != rows_.header().size(); }
  std::string_view text(AmdColumn column) const;  // empty: no such column
  std::optional<int64_t> number(AmdColumn column) const;
  const std::string& path() const { return rows_.path(); }

 private:
  explicit AmdTable(CsvRows rows);
  Status want_columns() const;

  CsvRows rows_;
  std::array<int, static_cast<size_t>(AmdColumn::count)> places_{};  // -1: no such column
  AmdTableKind kind_ = AmdTableKind::other;
  const std::vector<std::string_view>* fields_ = nullptr;
};

}  // namespace rung::trace
