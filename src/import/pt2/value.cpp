// Values of exported programs, in words and in memory.
// SPDX-License-Identifier: Apache-2.0
#include "import/pt2/value.hpp"

#include <fmt/format.h>

namespace rung::pt2 {

Value::Value() = default;
Value::Value(const Value& other) = default;
Value::Value(Value&& other) noexcept = default;
Value& Value::operator=(const Value& other) = default;
Value& Value::operator=(Value&& other) noexcept = default;
Value::~Value() = default;

Values several(const std::vector<NodeId>& nodes) {
  Values values;
  for (NodeId node : nodes) values.emplace_back(NodeRef{node});
  return values;
}

std::string describe(const Value& value) {
  struct Words {
    std::string operator()(std::monostate) const { return "none"; }
    std::string operator()(NodeRef) const { return "a tensor"; }
    std::string operator()(int64_t v) const { return fmt::format("{}", v); }
    std::string operator()(double v) const { return fmt::format("{}", v); }
    std::string operator()(bool v) const { return v ? "True" : "False"; }
    std::string operator()(DType v) const { return std::string(name_of(v)); }
    std::string operator()(Float64) const { return "float64"; }
    std::string operator()(Complex64) const { return "complex64"; }
    std::string operator()(const exported::Complex&) const { return "a tensor of complex numbers"; }
    std::string operator()(const std::shared_ptr<const Doubles>&) const { return "a tensor of float64"; }
    std::string operator()(Undecided) const { return "a number that depends on an input's values (freeze that input)"; }
    std::string operator()(const std::string& v) const { return fmt::format("'{}'", v); }
    std::string operator()(const Values& v) const { return fmt::format("a list of {}", v.size()); }
  };
  return std::visit(Words(), value.is);
}

}  // namespace rung::pt2
