// Lists names of columns in all versions, and recognises files by their columns.
// SPDX-License-Identifier: Apache-2.0
#include "trace/recording/amd_table.hpp"

#include <algorithm>

#include "trace/recording/csv_number.hpp"

namespace rung::trace {
namespace {

using Places = std::array<int, static_cast<size_t>(AmdColumn::count)>;

// Column names in the order of AmdColumn, in lower case and with '_' for '-' and blanks; the current name is first.
constexpr std::array<std::array<std::string_view, 3>, static_cast<size_t>(AmdColumn::count)> kNames{{
    {"kernel_name", "kernelname"},
    {"function"},
    {"direction"},
    {"domain"},
    {"start_timestamp", "beginns"},
    {"end_timestamp", "endns"},
    {"dispatchns"},
    {"agent_id", "gpu_id", "dev_id"},
    {"source_agent_id"},
    {"destination_agent_id"},
    {"queue_id"},
    {"stream_id"},
    {"process_id", "pid"},
    {"thread_id", "tid"},
    {"correlation_id"},
    {"grid_size_x", "grid_size", "grd"},
    {"grid_size_y"},
    {"grid_size_z"},
    {"workgroup_size_x", "workgroup_size", "wgr"},
    {"workgroup_size_y"},
    {"workgroup_size_z"},
    {"lds_block_size", "group_segment_size", "lds"},
    {"vgpr_count", "arch_vgpr", "vgpr"},
    {"accum_vgpr_count", "accum_vgpr"},
    {"counter_name"},
    {"calls"},
    {"allocation_size", "alloc_flags"},
    {"node_id"},
    {"agent_type"},
    {"name"},
    {"product_name"},
}};

struct KindRule {
  AmdTableKind kind;
  std::array<AmdColumn, 2> told_by;
  bool timed;  // requires start and end
  std::string_view what;
};

// The order matters: a file of counters has kernel names too.
constexpr KindRule kKinds[] = {
    {AmdTableKind::counters, {AmdColumn::counter, AmdColumn::counter}, false, "counters"},
    {AmdTableKind::agents, {AmdColumn::node, AmdColumn::agent_type}, false, "agents"},
    {AmdTableKind::allocations, {AmdColumn::allocation, AmdColumn::start}, false, "allocations"},
    {AmdTableKind::copies, {AmdColumn::direction, AmdColumn::source}, true, "copies"},
    {AmdTableKind::calls, {AmdColumn::function, AmdColumn::domain}, true, "calls"},
    {AmdTableKind::summary, {AmdColumn::calls, AmdColumn::name}, false, "totals"},
    {AmdTableKind::kernels, {AmdColumn::kernel, AmdColumn::kernel}, true, "kernels"},
};

std::string plain(std::string_view name) {
  std::string text(name);
  for (char& c : text) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    if (c == '-' || c == ' ') c = '_';
  }
  return text;
}

Places places_of(const std::vector<std::string>& header) {
  Places places;
  places.fill(-1);
  for (size_t i = 0; i < header.size(); ++i) {
    const std::string name = plain(header[i]);
    for (size_t column = 0; column < kNames.size(); ++column) {
      const auto& names = kNames[column];
      if (places[column] < 0 && !name.empty() && std::find(names.begin(), names.end(), name) != names.end())
        places[column] = static_cast<int>(i);
    }
  }
  return places;
}

bool has_column(const Places& places, AmdColumn column) { return places[static_cast<size_t>(column)] >= 0; }

const KindRule* rule_of(const Places& places) {
  for (const KindRule& rule : kKinds)
    if (has_column(places, rule.told_by[0]) && has_column(places, rule.told_by[1])) return &rule;
  return nullptr;
}

}  // namespace

AmdTableKind AmdTable::kind_of(const std::vector<std::string>& header) {
  const KindRule* rule = rule_of(places_of(header));
  return rule ? rule->kind : AmdTableKind::other;
}

AmdTable::AmdTable(CsvRows rows) : rows_(std::move(rows)), places_(places_of(rows_.header())) {
  if (const KindRule* rule = rule_of(places_)) kind_ = rule->kind;
}

Result<AmdTable> AmdTable::open(const std::string& path) {
  RUNG_TRY(CsvRows rows, CsvRows::open(path));
  AmdTable table(std::move(rows));
  RUNG_CHECK(table.want_columns());
  return table;
}

Status AmdTable::want_columns() const {
  const KindRule* rule = rule_of(places_);
  if (!rule) return bad_file("'{}': got columns that no known file of AMD's profilers has", path());
  const bool start = has(AmdColumn::start), end = has(AmdColumn::end);
  if (!rule->timed || (start && end)) return {};
  return bad_file("'{}': got a list of {} without the column {}{}{}", path(), rule->what,
                  start ? "" : "'Start_Timestamp' (rocprof: 'BeginNs')", start || end ? "" : " and ",
                  end ? "" : "'End_Timestamp' (rocprof: 'EndNs')");
}

Result<bool> AmdTable::next() {
  RUNG_TRY(fields_, rows_.next());
  return !fields_->empty();
}

std::string_view AmdTable::text(AmdColumn column) const {
  const int place = places_[static_cast<size_t>(column)];
  return place < 0 || static_cast<size_t>(place) >= fields_->size() ? std::string_view()
                                                                    : (*fields_)[static_cast<size_t>(place)];
}

std::optional<int64_t> AmdTable::number(AmdColumn column) const { return whole_number(text(column)); }

}  // namespace rung::trace
