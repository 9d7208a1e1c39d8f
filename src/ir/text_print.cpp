// Prints a graph in its text form.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/ranges.h>

#include <limits>

#include "ir/text.hpp"

namespace rung {
namespace {

constexpr int64_t kMaxPrintedValues = 64;  // larger literals print only their name

std::string quote(std::string_view text) {
  std::string out = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c == '\n' ? ' ' : c;
  }
  return out + '"';
}

std::string value_at(const Tensor& tensor, size_t i) {
  switch (tensor.dtype()) {
    case DType::i64:
      return fmt::format("{}", tensor.as<int64_t>()[i]);
    case DType::boolean:
      return tensor.as<bool>()[i] ? "1" : "0";
    default:
      break;
  }
  return fmt::format("{}", convert(tensor, DType::f32).as<float>()[i]);
}

std::string constant_fields(const Weight& weight) {
  std::string text = "name=" + quote(weight.name());
  if (!weight.immediate() || weight.type().elements() > kMaxPrintedValues) return text;
  auto tensor = weight.load();
  if (!tensor) return text;
  Tensor values = *tensor;
  if (values.dtype() != DType::i64 && values.dtype() != DType::boolean) values = convert(values, DType::f32);
  text += ", values=[";
  for (size_t i = 0; i < static_cast<size_t>(values.elements()); ++i) text += (i ? "," : "") + value_at(values, i);
  return text + "]";
}

class Printer {
 public:
  explicit Printer(const Graph& graph) : graph_(graph), names_(graph.capacity()) {}

  std::string run() {
    std::string text = fmt::format("graph {}\n", quote(graph_.name));
    size_t count = 0;
    for (NodeId id : graph_.order()) {
      const auto* input = graph_.as<Input>(id);
      names_[id] = input && is_plain(input->name) ? input->name : fmt::format("%{}", count);
      ++count;
      text += line(id);
    }
    for (const State& state : graph_.states()) text += state_line(state);
    return text + outputs();
  }

 private:
  // Returns whether a name needs no quotes and cannot be taken for a number or a numbered value.
  static bool is_plain(std::string_view name) {
    if (name.empty() || (name[0] >= '0' && name[0] <= '9')) return false;
    return name.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") ==
           std::string_view::npos;
  }

  std::string line(NodeId id) {
    const Node& node = graph_[id];
    std::string arguments;
    auto append = [&](std::string_view text) {
      if (text.empty()) return;
      if (!arguments.empty()) arguments += ", ";
      arguments += text;
    };
    for (NodeId operand : node.operands) append(names_[operand]);
    if (graph_.is_constant(id))
      append(constant_fields(*graph_.weight(id)));
    else if (const auto* input = graph_.as<Input>(id))
      append(input->name == names_[id] ? "" : "name=" + quote(input->name));
    else
      append(fields_to_string(node.op));
    std::string text = fmt::format("{}: {} = {}({})", names_[id], node.type, name_of(node.op), arguments);
    bool labelled = !node.label.empty() && !graph_.is_constant(id) && !graph_.as<Input>(id);
    return text + (labelled ? "  # " + node.label : "") + "\n";
  }

  static std::string state_line(const State& state) {
    const std::string initial =
        state.initial ? fmt::format(", initial=constant({})", constant_fields(*state.initial)) : "";
    return fmt::format("state {}, next={}{}\n", quote(state.input), quote(state.next), initial);
  }

  std::string outputs() {
    std::string text = "return";
    for (const Output& output : graph_.outputs())
      text += fmt::format("{} {}={}", text.size() > 6 ? "," : "", quote(output.name), names_[output.node]);
    return text + "\n";
  }

  const Graph& graph_;
  std::vector<std::string> names_;
};

}  // namespace

std::string print(const Graph& graph) { return Printer(graph).run(); }
std::string print_op(const Op& op) { return fmt::format("{}({})", name_of(op), fields_to_string(op)); }

}  // namespace rung
