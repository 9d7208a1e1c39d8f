// Groups launches that solve the same problem with the same kernel.
// SPDX-License-Identifier: Apache-2.0
#include "report/op_groups.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "report/format.hpp"

namespace rung::report {
namespace {

double sound(double value) { return std::isfinite(value) && value > 0 ? value : 0; }

std::vector<std::string> words(const std::string& label) {
  std::vector<std::string> out(1);
  for (char c : label) {
    if (c == '.')
      out.emplace_back();
    else
      out.back() += c;
  }
  return out;
}

// Joins "layer.0.dense" and "layer.1.dense" to "layer.*.dense"; labels of different lengths keep the first.
std::string common_label(const std::string& a, const std::string& b) {
  std::vector<std::string> x = words(a), y = words(b);
  if (x.size() != y.size()) return a;
  std::string out;
  for (size_t i = 0; i < x.size(); ++i) out += (i > 0 ? "." : "") + (x[i] == y[i] ? x[i] : "*");
  return out;
}

void add(OpGroup& group, const OpTime& op) {
  group.label = group.count++ == 0 ? op.label : common_label(group.label, op.label);
  group.us += sound(op.us);
  group.floor_us += sound(op.floor_us);
  group.flops += sound(op.flops);
  group.bytes += sound(op.bytes);
}

}  // namespace

std::vector<OpGroup> group_ops(const std::vector<OpTime>& ops) {
  std::map<std::tuple<std::string, std::string, std::string, Category>, OpGroup> groups;
  for (const OpTime& op : ops) {
    OpGroup& group = groups[{op.op, op.kernel, op.problem, op.category}];
    group.op = op.op, group.kernel = op.kernel, group.problem = op.problem, group.category = op.category;
    add(group, op);
  }
  std::vector<OpGroup> list;
  for (auto& [key, group] : groups) list.push_back(std::move(group));
  std::ranges::sort(list, [](const OpGroup& a, const OpGroup& b) {
    return a.us != b.us ? a.us > b.us : std::tie(a.label, a.problem) < std::tie(b.label, b.problem);
  });
  return list;
}

double total_us(const std::vector<OpGroup>& groups) {
  double total = 0;
  for (const OpGroup& group : groups) total += group.us;
  return total;
}

std::vector<OpGroup> fold_tail(std::vector<OpGroup> groups, size_t limit) {
  if (groups.size() <= limit) return groups;
  OpGroup rest{.op = "several", .kernel = "several"};
  for (size_t i = limit; i < groups.size(); ++i) {
    rest.count += groups[i].count;
    rest.us += groups[i].us, rest.floor_us += groups[i].floor_us;
    rest.flops += groups[i].flops, rest.bytes += groups[i].bytes;
  }
  rest.label = count(static_cast<long>(groups.size() - limit)) + " more problems";
  groups.resize(limit);
  groups.push_back(std::move(rest));
  return groups;
}

}  // namespace rung::report
