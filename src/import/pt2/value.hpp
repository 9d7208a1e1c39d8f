// The value of an argument or a result of a call in an exported program.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "import/exported/spectral.hpp"
#include "ir/graph.hpp"

namespace rung::pt2 {

struct NodeRef {
  NodeId id = kNoNode;
};

// A tensor of float64 that is known at import, and the type itself: graphs have neither.
struct Doubles {
  Shape shape;
  std::vector<double> values;
};
struct Float64 {};
// A number that the values of an input decide: assertions of it are left out, nothing else takes it.
struct Undecided {};
// The type of tensors of exported::Complex, which graphs have neither.
struct Complex64 {};

// Integers are numbers or sizes, which are all known at import; text is also a word for a device or a memory format.
struct Value;
using Values = std::vector<Value>;
struct Value {
  std::variant<std::monostate, NodeRef, int64_t, double, bool, DType, Float64, Complex64, std::string, Values,
               std::shared_ptr<const Doubles>, exported::Complex, Undecided>
      is;

  // Copies and moves are compiled once, in value.cpp: inlined, they are most of this folder's code.
  Value();
  template <class T>
  explicit Value(T of) : is(std::move(of)) {}
  Value(const Value& other);
  Value(Value&& other) noexcept;
  Value& operator=(const Value& other);
  Value& operator=(Value&& other) noexcept;
  ~Value();

  bool is_none() const { return std::holds_alternative<std::monostate>(is); }
  const NodeRef* node() const { return std::get_if<NodeRef>(&is); }
};

inline Values one(NodeId node) { return {Value(NodeRef{node})}; }
Values several(const std::vector<NodeId>& nodes);

// Returns "a tensor", "3", "none" for messages.
std::string describe(const Value& value);

}  // namespace rung::pt2
