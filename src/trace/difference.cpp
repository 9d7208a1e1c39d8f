// Compares two recordings of one program.
// SPDX-License-Identifier: Apache-2.0
#include "trace/difference.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

namespace rung::trace {
namespace {

template <class Rows, class Name>
std::vector<DifferenceRow> rows_of(const Summary& before, const Summary& after, Rows Figures::*rows, const Name& name) {
  std::map<std::string, DifferenceRow> by_name;
  for (const auto& row : before.step.*rows) {
    DifferenceRow& to = by_name[std::string(name(row))];
    to.before_ms += row.ms;
    to.before_count += static_cast<double>(row.count);
  }
  for (const auto& row : after.step.*rows) {
    DifferenceRow& to = by_name[std::string(name(row))];
    to.after_ms += row.ms;
    to.after_count += static_cast<double>(row.count);
  }
  std::vector<DifferenceRow> out;
  for (auto& [key, row] : by_name) {
    row.name = key;
    out.push_back(std::move(row));
  }
  std::ranges::stable_sort(out, std::greater{}, [](const DifferenceRow& r) { return std::abs(r.change_ms()); });
  return out;
}

std::vector<std::string> ids_missing_in(const Summary& from, const Summary& in) {
  std::vector<std::string> ids;
  for (const TraceFinding& finding : from.findings)
    if (std::ranges::find(in.findings, finding.id, &TraceFinding::id) == in.findings.end())
      ids.emplace_back(finding.id);
  return ids;
}

nlohmann::json row_json(const DifferenceRow& row) {
  return {{"name", row.name},
          {"before_ms", row.before_ms},
          {"after_ms", row.after_ms},
          {"change_ms", row.change_ms()},
          {"before_count", row.before_count},
          {"after_count", row.after_count}};
}

nlohmann::json rows_json(const std::vector<DifferenceRow>& rows) {
  nlohmann::json array = nlohmann::json::array();
  for (const DifferenceRow& row : rows) array.push_back(row_json(row));
  return array;
}

}  // namespace

Difference difference(const Summary& before, const Summary& after) {
  const auto kernels_before = static_cast<double>(before.step.kernels);
  const auto kernels_after = static_cast<double>(after.step.kernels);
  Difference d;
  d.step = {"step", before.step_ms(), after.step_ms(), kernels_before, kernels_after};
  d.busy = {"device busy", before.step.busy_ms, after.step.busy_ms, kernels_before, kernels_after};
  d.categories =
      rows_of(before, after, &Figures::categories, [](const CategoryTotal& c) { return name_of(c.category); });
  d.gaps = rows_of(before, after, &Figures::gaps, [](const GapTotal& g) { return name_of(g.cause); });
  d.kernels = rows_of(before, after, &Figures::by_kernel, [](const KernelTotal& k) { return k.name; });
  d.gone = ids_missing_in(before, after);
  d.come = ids_missing_in(after, before);
  return d;
}

nlohmann::json to_json(const Difference& d) {
  return {{"step", row_json(d.step)},  {"busy", row_json(d.busy)},        {"categories", rows_json(d.categories)},
          {"gaps", rows_json(d.gaps)}, {"kernels", rows_json(d.kernels)}, {"findings_gone", d.gone},
          {"findings_come", d.come}};
}

}  // namespace rung::trace
