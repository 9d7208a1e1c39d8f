// One call of an operator in an exported program: its arguments by their names in PyTorch's schema, and the nodes that
// it becomes.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "import/exported/emit.hpp"
#include "import/pt2/value.hpp"

namespace rung::pt2 {

// Accessors throw std::out_of_range where an argument is missing or of another kind.
class Call : public exported::Emit {
 public:
  using Arguments = std::vector<std::pair<std::string, Value>>;
  Call(GraphBuilder& builder, std::string label, std::string target, Arguments arguments)
      : Emit(builder, std::move(label)), target_(std::move(target)), arguments_(std::move(arguments)) {}

  const std::string& target() const { return target_; }  // "aten.add.Tensor"
  // Null: left out, or given as none.
  const Value* find(std::string_view name) const;
  bool has(std::string_view name) const { return find(name) != nullptr; }
  const Arguments& all() const { return arguments_; }
  // The same call of other arguments.
  Call with(Arguments arguments) const;

  NodeId tensor(std::string_view name) const;
  std::optional<NodeId> optional_tensor(std::string_view name) const;
  std::vector<NodeId> tensors(std::string_view name) const;
  std::vector<std::optional<NodeId>> optional_tensors(std::string_view name) const;
  // A number or a tensor, as a tensor; a number takes `like`'s type, or f32 where it is a fraction beside integers.
  NodeId tensor_or_number(std::string_view name, NodeId like) const;
  // The type in which PyTorch computes with all of them: one without axes counts only where its kind is higher (floats
  // before integers before truth values).
  DType common_type(const std::vector<NodeId>& operands) const;
  std::vector<NodeId> in_common_type(std::vector<NodeId> operands) const;
  struct Pair {
    NodeId a, b;
  };
  // Two arguments in the type in which they meet; a number takes the tensor's.
  Pair both(std::string_view first = "self", std::string_view second = "other") const;
  int64_t integer(std::string_view name, std::optional<int64_t> left_out = {}) const;
  double number(std::string_view name, std::optional<double> left_out = {}) const;
  std::optional<double> optional_number(std::string_view name) const;
  bool flag(std::string_view name, bool left_out = false) const;
  // One integer counts as a list of one.
  std::vector<int64_t> integers(std::string_view name) const;
  std::vector<int64_t> integers(std::string_view name, std::vector<int64_t> left_out) const;
  std::string text(std::string_view name, std::string left_out) const;
  std::optional<DType> dtype_argument(std::string_view name) const;
  using Emit::integers;

  // x in the type of the argument "dtype", if the call has one.
  NodeId in_asked_type(NodeId x) const { return cast(x, dtype_argument("dtype").value_or(dtype(x))); }
  NodeId in_floats(NodeId x) const { return is_float(dtype(x)) ? x : cast(x, DType::f32); }
  NodeId flat(NodeId x) const { return reshape(x, Shape{type(x).elements()}); }

 private:
  const Value& want(std::string_view name) const;
  [[noreturn]] void wrong_kind(std::string_view name, std::string_view wanted) const;

  std::string target_;
  Arguments arguments_;
};

// Returns "mul" of "aten.mul.Tensor".
std::string_view base_name(std::string_view target);

// How an operator becomes nodes.
using Lower = Values (*)(const Call& call);

// Null: no row of operators.inc has this name.
Lower operator_named(std::string_view target);

// Returns what to say of an operator that has no row.
std::string why_unknown(std::string_view target);

}  // namespace rung::pt2
