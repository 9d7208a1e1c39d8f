// A small pattern matcher: op<MatMul>(any("x"), any("w")).one_use() against the node at a position in the graph.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <optional>
#include <string_view>
#include <vector>

#include "ir/graph.hpp"

namespace rung {

// The nodes that a pattern's names stand for. Asking for a name that the pattern lacks is a bug and asserts.
class Match {
 public:
  NodeId operator[](std::string_view name) const;
  bool has(std::string_view name) const;

 private:
  friend class Matcher;
  static constexpr size_t kMaxNames = 12;
  struct Binding {
    std::string_view name;
    NodeId node = kNoNode;
  };
  std::array<Binding, kMaxNames> bindings_{};
  size_t count_ = 0;
};

// A pattern to build once (static const): matching it allocates nothing.
class Pattern {
 public:
  // Requires that the value has no other user and is no output.
  Pattern one_use() &&;
  // Binds the node itself; two uses of a name must be the same node.
  Pattern named(std::string_view name) &&;

 private:
  friend class Matcher;
  friend Pattern any(std::string_view name);
  friend Pattern unary(UnaryKind kind, Pattern x);
  friend Pattern binary(BinaryKind kind, Pattern a, Pattern b);
  template <class T, class... Operands>
  friend Pattern op(Operands... operands);

  enum class Form { any, op };
  Form form_ = Form::any;
  size_t alternative_ = 0;  // index in Op
  int kind_ = -1;           // of a unary or binary op
  bool one_use_ = false;
  std::string_view name_;
  std::vector<Pattern> operands_;
};

Pattern any(std::string_view name);
Pattern unary(UnaryKind kind, Pattern x);
// Matches add, mul, max and min with their operands either way round.
Pattern binary(BinaryKind kind, Pattern a, Pattern b);

template <class T, class Variant, size_t I = 0>
constexpr size_t alternative_index() {
  if constexpr (std::is_same_v<T, std::variant_alternative_t<I, Variant>>)
    return I;
  else
    return alternative_index<T, Variant, I + 1>();
}

// Matches an op of that struct with these operands, in order and number; without operands given, with any.
template <class T, class... Operands>
Pattern op(Operands... operands) {
  Pattern pattern;
  pattern.form_ = Pattern::Form::op;
  pattern.alternative_ = alternative_index<T, Op>();
  (pattern.operands_.push_back(std::move(operands)), ...);
  return pattern;
}

std::optional<Match> match(const Graph& graph, NodeId node, const Pattern& pattern);

}  // namespace rung
