// A pass: a named function over the graph, the rung it belongs to, and the context that it may query and note in.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <fmt/format.h>

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/verdict.hpp"
#include "ir/graph.hpp"
#include "ir/precision.hpp"

namespace rung {

// A place where a pass found almost what it looks for: the label of its last op, and what was in the way.
struct Miss {
  std::string label, reason;
};

// Notes of a pass for its receipt.
struct Notes {
  std::vector<std::string> lines;
  std::vector<Miss> misses;
  template <class... Args>
  void add(fmt::format_string<Args...> format, Args&&... args) {
    lines.push_back(fmt::format(format, std::forward<Args>(args)...));
  }
};

// Returns whether there is a kernel row for this op over operands of these types. An empty query means yes.
using KernelQuery = std::function<Verdict(const Op&, std::span<const Type> operands)>;

struct PassContext {
  Notes& notes;
  KernelQuery has_kernel;
  Precision precision;
  int64_t row_bytes = 1;  // of the target
  Calibration calibration = {};
  ChannelCalibration channels = {};
  OutlierColumns outliers = {};
  // Asks has_kernel about an op about to be built; a "no" is noted once.
  bool kernel_for(const Graph& graph, const Op& op, std::span<const NodeId> operands);
  // Returns whether the precision is the same for both nodes, so that they may become one.
  bool same_precision(const Graph& graph, NodeId a, NodeId b) const;
};

// The word in place of a rung in the rows of canonical_passes().
inline constexpr std::string_view kCanonicalRung = "canonical";
// The value of Pass::then_canonical, by name.
inline constexpr bool kThenCanonical = true;

struct Pass {
  std::string_view name, rung, reason;
  Status (*run)(Graph&, PassContext&);
  bool then_canonical = false;  // leaves selections, copies and sums that the canonical passes shorten
};

}  // namespace rung
