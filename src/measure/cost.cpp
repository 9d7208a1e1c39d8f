// Flops and bytes of every op.
// SPDX-License-Identifier: Apache-2.0
#include "measure/cost.hpp"

#include <algorithm>

#include "ir/norm_row.hpp"
#include "ir/pointwise.hpp"

namespace rung {
namespace {

using Types = std::span<const Type>;
double count(const Type& type) { return static_cast<double>(type.elements()); }
double dim(int64_t n) { return static_cast<double>(n); }

// One overload per op whose flops are not one per element of the result.
template <class T>
double flops(const T&, Types, const Type& result) {
  return count(result);
}
double flops(const Cast&, Types, const Type&) { return 0; }
double flops(const Select&, Types, const Type&) { return 0; }
double flops(const MatMul&, Types operands, const Type& result) {
  return 2 * count(result) * dim(operands[0].shape.back());
}
double flops(const Linear& op, Types operands, const Type& result) {
  const Shape& w = operands[1].shape;
  const auto elements = [&](LinearSlot slot) { return op.has(slot) ? count(*op.find(operands, slot)) : 0; };
  const bool feeds_norm = op.has(LinearSlot::norm_weight), normed = op.has(LinearSlot::squares);
  double columns = count(result) * (feeds_norm ? dim(w[0]) / dim(norm_row(w[0])) : 1);  // all of them
  double products = columns * (op.gated ? 2 : 1);
  return products * (2 * dim(w[1]) + op.has(LinearSlot::bias) + normed) +
         columns * ((op.activation != Activation::none) + op.gated + op.has(LinearSlot::residual) + op.split_residual +
                    4 * feeds_norm) +
         3 * elements(LinearSlot::cos) * dim(op.rotated_heads) + elements(LinearSlot::squares);
}
double flops(const Conv2d&, Types operands, const Type& result) {
  const Shape& w = operands[1].shape;
  return count(result) * (2 * dim(w[1] * w[2] * w[3]) + 1);
}
double flops(const Attention& op, Types operands, const Type&) {
  const Shape& q = operands[0].shape;
  double keys = 0;
  for (size_t i = op.has_mask ? 2 : 1; i < operands.size(); i += 2) keys += dim(operands[i].shape[1]);
  return 4 * dim(q[0] * q[2] * q[1] * q[3]) * keys;
}
double flops(const Softmax&, Types, const Type& result) { return 4 * count(result); }  // max, subtract, exp, divide
double flops(const LayerNorm& op, Types, const Type& result) { return (7 + op.has_residual) * count(result); }
double flops(const RmsNorm&, Types, const Type& result) { return 4 * count(result); }
double flops(const L2Normalize&, Types, const Type& result) { return 3 * count(result); }
double flops(const Reduce&, Types operands, const Type&) { return count(operands[0]); }
double flops(const MaskedMean&, Types operands, const Type&) { return 2 * count(operands[0]); }
double flops(const Rope&, Types, const Type& result) { return 3 * count(result); }
double flops(const GatedMul& op, Types, const Type& result) {
  return (1 + (op.activation != Activation::none)) * count(result);
}
double flops(const Pointwise& op, Types operands, const Type& result) {
  auto program = parse_pointwise(op.program, operands.size());
  return program ? static_cast<double>(program->instructions.size()) * count(result) : 0;
}
double flops(const Concat&, Types, const Type&) { return 0; }
double flops(const Gather&, Types, const Type&) { return 0; }
double flops(const Im2col&, Types, const Type&) { return 0; }

bool is_free(const Op& op) { return is_view(op) || as<Input>(op) || as<Constant>(op); }

double bytes_read(const Op& op, Types operands, const Type& result) {
  if (as<Gather>(op)) return static_cast<double>(std::min(operands[0].bytes(), result.bytes()) + operands[1].bytes());
  double bytes = 0;
  for (const Type& operand : operands) bytes += static_cast<double>(operand.bytes());
  return bytes;
}

}  // namespace

Cost cost_of(const Op& op, Types operands, const Type& result) {
  if (is_free(op)) return {};
  return {std::visit([&](const auto& which) { return flops(which, operands, result); }, op),
          bytes_read(op, operands, result) + static_cast<double>(result.bytes())};
}

Cost cost_of(const Graph& graph, NodeId id) {
  const Node& node = graph[id];
  std::vector<Type> types;
  double repeated = 0;
  for (size_t i = 0; i < node.operands.size(); ++i) {
    auto end = node.operands.begin() + static_cast<std::ptrdiff_t>(i);
    types.push_back(graph.type(node.operands[i]));
    if (std::find(node.operands.begin(), end, node.operands[i]) != end)
      repeated += static_cast<double>(types.back().bytes());
  }
  Cost cost = cost_of(node.op, types, node.type);
  if (cost.bytes > 0) cost.bytes -= repeated;
  return cost;
}

double floor_seconds(const Cost& cost, double peak_flops, double peak_bytes_per_second) {
  double computing = peak_flops > 0 ? cost.flops / peak_flops : 0;
  double moving = peak_bytes_per_second > 0 ? cost.bytes / peak_bytes_per_second : 0;
  return std::max(computing, moving);
}

Category category_of(const Op& op) {
  if (as<MatMul>(op) || as<Linear>(op) || as<Conv2d>(op)) return Category::gemm;
  if (as<Attention>(op)) return Category::attention;
  if (as<Softmax>(op) || as<LayerNorm>(op) || as<RmsNorm>(op) || as<L2Normalize>(op)) return Category::normalisation;
  if (is_elementwise(op) || as<Rope>(op) || as<GatedMul>(op) || as<Pointwise>(op)) return Category::elementwise;
  if (is_view(op) || as<Concat>(op) || as<Gather>(op) || as<Im2col>(op)) return Category::copy;
  return Category::other;
}

}  // namespace rung
