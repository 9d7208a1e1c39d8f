// Matches a pattern tree against a node and its operands.
// SPDX-License-Identifier: Apache-2.0
#include "ir/match.hpp"

#include <algorithm>
#include <cassert>

namespace rung {

NodeId Match::operator[](std::string_view name) const {
  for (size_t i = 0; i < count_; ++i)
    if (bindings_[i].name == name) return bindings_[i].node;
  assert(false && "no such name in the pattern");
  return kNoNode;
}

bool Match::has(std::string_view name) const {
  return std::any_of(bindings_.begin(), bindings_.begin() + count_, [&](const auto& b) { return b.name == name; });
}

Pattern Pattern::one_use() && {
  one_use_ = true;
  return std::move(*this);
}
Pattern Pattern::named(std::string_view name) && {
  name_ = name;
  return std::move(*this);
}

Pattern any(std::string_view name) {
  Pattern pattern;
  pattern.name_ = name;
  return pattern;
}

Pattern unary(UnaryKind kind, Pattern x) {
  Pattern pattern = op<Unary>(std::move(x));
  pattern.kind_ = static_cast<int>(kind);
  return pattern;
}

Pattern binary(BinaryKind kind, Pattern a, Pattern b) {
  Pattern pattern = op<Binary>(std::move(a), std::move(b));
  pattern.kind_ = static_cast<int>(kind);
  return pattern;
}

class Matcher {
 public:
  explicit Matcher(const Graph& graph) : graph_(graph) {}

  bool matches(NodeId node, const Pattern& pattern) {
    if (pattern.one_use_ && !graph_.single_use(node)) return false;
    if (pattern.form_ == Pattern::Form::op && !matches_op(node, pattern)) return false;
    return pattern.name_.empty() || bind(pattern.name_, node);
  }

  Match result;

 private:
  bool matches_op(NodeId node, const Pattern& pattern) {
    const Node& found = graph_[node];
    if (found.op.index() != pattern.alternative_ || !matches_kind(found.op, pattern.kind_)) return false;
    if (pattern.operands_.empty()) return true;
    if (found.operands.size() != pattern.operands_.size()) return false;
    size_t bound = result.count_;
    if (matches_operands(found, pattern, false)) return true;
    result.count_ = bound;
    return commutes(found.op) && matches_operands(found, pattern, true);
  }

  bool matches_operands(const Node& node, const Pattern& pattern, bool swapped) {
    size_t n = pattern.operands_.size();
    for (size_t i = 0; i < n; ++i)
      if (!matches(node.operands[swapped ? n - 1 - i : i], pattern.operands_[i])) return false;
    return true;
  }

  static bool matches_kind(const Op& op, int kind) {
    if (kind < 0) return true;
    if (const auto* u = as<Unary>(op)) return static_cast<int>(u->kind) == kind;
    const auto* b = as<Binary>(op);
    return b && static_cast<int>(b->kind) == kind;
  }

  static bool commutes(const Op& op) {
    const auto* b = as<Binary>(op);
    return b && (b->kind == BinaryKind::add || b->kind == BinaryKind::mul || b->kind == BinaryKind::max ||
                 b->kind == BinaryKind::min);
  }

  bool bind(std::string_view name, NodeId node) {
    for (size_t i = 0; i < result.count_; ++i)
      if (result.bindings_[i].name == name) return result.bindings_[i].node == node;
    assert(result.count_ < Match::kMaxNames);
    result.bindings_[result.count_++] = {name, node};
    return true;
  }

  const Graph& graph_;
};

std::optional<Match> match(const Graph& graph, NodeId node, const Pattern& pattern) {
  Matcher matcher(graph);
  if (!matcher.matches(node, pattern)) return std::nullopt;
  return matcher.result;
}

}  // namespace rung
