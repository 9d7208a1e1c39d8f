// Normalisations of exported programs.
// SPDX-License-Identifier: Apache-2.0
#include "import/pt2/operators.hpp"

namespace rung::pt2::operators {
namespace {

using exported::refuse;

int axes_of_norm(const Call& call) { return static_cast<int>(call.integers("normalized_shape").size()); }

NodeId normalised(const Call& call) {
  return call.layer_norm(call.tensor("input"), axes_of_norm(call), call.optional_tensor("weight"),
                         call.optional_tensor("bias"), call.number("eps", 1e-5));
}

// A number for each channel, axis 1, where it broadcasts to x.
NodeId of_channels(const Call& call, NodeId x, NodeId vector) {
  Shape to = Dims::filled(call.rank(x), 1);
  if (to.rank() < 2) refuse("channels of {}", call.type(x));
  to[1] = call.shape(x)[1];
  return call.reshape(vector, to);
}

// x weight + bias, a number for each channel; none: 1 and 0.
NodeId scaled(const Call& call, NodeId x) {
  if (const auto weight = call.optional_tensor("weight"))
    x = call.binary(BinaryKind::mul, x, of_channels(call, x, call.cast(*weight, call.dtype(x))));
  if (const auto bias = call.optional_tensor("bias"))
    x = call.binary(BinaryKind::add, x, of_channels(call, x, call.cast(*bias, call.dtype(x))));
  return x;
}

}  // namespace

Values layer_norm(const Call& call) { return one(normalised(call)); }
// Its mean and factor have no reader in inference.
Values native_layer_norm(const Call& call) { return {Value(NodeRef{normalised(call)}), Value(), Value()}; }

Values rms_norm(const Call& call) {
  const NodeId x = call.tensor("input");
  if (axes_of_norm(call) != 1) refuse("an RMS norm over {} axes, wanted one", axes_of_norm(call));
  constexpr double kEps = 1.1920929e-07;  // of f32, in which 16 bits are computed, too
  const NodeId y = call.rms_norm(x, call.optional_tensor("weight"), call.number("eps", kEps));
  return {Value(NodeRef{y}), Value()};  // the reciprocal root is for gradients
}

// The channels of a group, with their places, are one row.
Values group_norm(const Call& call) {
  const NodeId x = call.tensor("input");
  const int64_t groups = call.integer(call.has("num_groups") ? "num_groups" : "group");
  const Shape whole = call.shape(x);
  if (whole.rank() < 2 || groups < 1 || whole[1] % groups || whole.product() == 0)
    refuse("{} groups of {}", groups, call.type(x));
  const Shape rows{whole[0], groups, whole.product() / whole[0] / groups};
  const NodeId y = call.layer_norm(call.reshape(x, rows), 1, std::nullopt, std::nullopt, call.number("eps", 1e-5));
  return {Value(NodeRef{scaled(call, call.reshape(y, whole))}), Value(), Value()};
}

// Each channel's places are one row; or the statistics that training left, as in a batch norm.
Values instance_norm(const Call& call) {
  const NodeId x = call.tensor("input");
  if (!call.flag("use_input_stats", true)) return {batch_norm(call)[0]};
  const Shape whole = call.shape(x);
  if (whole.rank() < 3 || whole.product() == 0) refuse("an instance norm of {}", call.type(x));
  const Shape rows{whole[0], whole[1], whole.product() / whole[0] / whole[1]};
  const NodeId y = call.layer_norm(call.reshape(x, rows), 1, std::nullopt, std::nullopt, call.number("eps", 1e-5));
  return one(scaled(call, call.reshape(y, whole)));
}

// v times g over v's length along all axes but one.
Values weight_norm(const Call& call) {
  const NodeId v = call.tensor("v");
  std::vector<int64_t> axes;
  for (int i = 0; i < call.rank(v); ++i)
    if (i != call.axis(v, call.integer("dim", 0))) axes.push_back(i);
  const NodeId squares = call.reduce(ReduceKind::sum, call.unary(UnaryKind::square, v), axes, true);
  const NodeId factor = call.binary(BinaryKind::div, call.tensor("g"), call.unary(UnaryKind::sqrt, squares));
  return one(call.binary(BinaryKind::mul, v, factor));
}

namespace {

// By the batch's own statistics: layers that keep none standardise weights so.
NodeId norm_of_batch(const Call& call, NodeId x) {
  if (call.has("running_mean")) refuse("a batch norm in training, wanted a model in eval mode: model.eval()");
  const NodeId turned = call.swap_axes(x, 0, 1);
  const Shape whole = call.shape(turned);
  if (whole.product() == 0) refuse("statistics of {}", call.type(x));
  const NodeId rows = call.reshape(turned, Shape{whole[0], whole.product() / whole[0]});
  const NodeId y = call.layer_norm(rows, 1, std::nullopt, std::nullopt, call.number("eps", 1e-5));
  return scaled(call, call.swap_axes(call.reshape(y, whole), 0, 1));
}

}  // namespace

// (x - mean) / sqrt(variance + eps), by the statistics that training left.
Values batch_norm(const Call& call) {
  const NodeId x = call.tensor("input");
  if (call.flag("training")) return {Value(NodeRef{norm_of_batch(call, x)}), Value(), Value()};
  const NodeId mean = call.cast(call.tensor("running_mean"), DType::f32);
  const NodeId variance = call.cast(call.tensor("running_var"), DType::f32);
  NodeId factor = call.unary(UnaryKind::rsqrt,
                             call.binary(BinaryKind::add, variance, call.scalar(call.number("eps", 1e-5), DType::f32)));
  if (const auto weight = call.optional_tensor("weight"))
    factor = call.binary(BinaryKind::mul, factor, call.cast(*weight, DType::f32));
  NodeId shift = call.unary(UnaryKind::neg, call.binary(BinaryKind::mul, mean, factor));
  if (const auto bias = call.optional_tensor("bias"))
    shift = call.binary(BinaryKind::add, shift, call.cast(*bias, DType::f32));
  const NodeId y = call.binary(BinaryKind::mul, call.cast(x, DType::f32), of_channels(call, x, factor));
  const NodeId result = call.binary(BinaryKind::add, y, of_channels(call, x, shift));
  return {Value(NodeRef{call.cast(result, call.dtype(x))}), Value(), Value()};
}

}  // namespace rung::pt2::operators
