// Groups launches that solve the same problem with the same kernel: layers repeat, and tables should not.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

#include "ladder/result.hpp"

namespace rung::report {

struct OpGroup {
  std::string label, op, kernel, problem;  // label: "layer.*.dense" for layer.0.dense, layer.1.dense
  Category category = Category::other;
  int count = 0;
  double us = 0, floor_us = 0, flops = 0, bytes = 0;  // sums of all launches; negative and non-finite values count as 0
  double gflops() const { return us > 0 ? flops / us / 1e3 : 0; }
  double gbps() const { return us > 0 ? bytes / us / 1e3 : 0; }
};

// Sorts the longest first; ties by label, so that one result always gives the same page.
std::vector<OpGroup> group_ops(const std::vector<OpTime>& ops);
double total_us(const std::vector<OpGroup>& groups);
// Merges all groups beyond `limit` into one group named "N more problems".
std::vector<OpGroup> fold_tail(std::vector<OpGroup> groups, size_t limit);

}  // namespace rung::report
