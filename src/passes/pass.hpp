// A pass: a named function over the graph, the rung it belongs to, and the facts that it may ask for and tell while it
// runs.
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

// Notes of a pass for its receipt.
struct Notes {
  std::vector<std::string> lines;
  template <class... Args>
  void add(fmt::format_string<Args...> format, Args&&... args) {
    lines.push_back(fmt::format(format, std::forward<Args>(args)...));
  }
};

// Is there a kernel row for this op over operands of these types? An empty query means yes.
using KernelQuery = std::function<Verdict(const Op&, std::span<const Type> operands)>;

struct PassContext {
  Notes& notes;
  KernelQuery has_kernel;
  Precision precision;
  int64_t row_bytes = 1;  // of the target
  // The query for an op about to be built; a "no" is noted once.
  bool kernel_for(const Graph& graph, const Op& op, std::span<const NodeId> operands);
  // May the two nodes become one, or does the precision say something else of each?
  bool same_precision(const Graph& graph, NodeId a, NodeId b) const;
};

// The word that stands for a rung in rows of canonical_passes().
inline constexpr std::string_view kCanonicalRung = "canonical";
// Pass::then_canonical
inline constexpr bool kThenCanonical = true;

struct Pass {
  std::string_view name, rung, reason;
  Status (*run)(Graph&, PassContext&);
  bool then_canonical = false;  // leaves selections, copies and sums that the canonical passes shorten
};

}  // namespace rung
