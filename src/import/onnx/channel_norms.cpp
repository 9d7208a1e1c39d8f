// Normalisations of ONNX graphs with numbers for each channel, axis 1.
// SPDX-License-Identifier: Apache-2.0
#include "import/onnx/layouts.hpp"
#include "import/onnx/operators.hpp"

namespace rung::onnx::operators {
namespace {

using exported::refuse;

// A number for each channel, where it broadcasts to x.
NodeId of_channels(const Call& call, NodeId x, NodeId vector) {
  Shape to = Dims::filled(call.rank(x), 1);
  if (to.rank() < 2) refuse("channels of {}", call.type(x));
  to[1] = call.shape(x)[1];
  return call.reshape(vector, to);
}

// Each run of x's elements, [B, runs, ...], by its own mean and variance.
NodeId normalised_runs(const Call& call, NodeId x, int64_t runs) {
  const Shape whole = call.shape(x);
  if (whole.rank() < 2 || runs < 1 || whole[1] % runs || whole.product() == 0)
    refuse("{} groups of {}", runs, call.type(x));
  const Shape rows{whole[0], runs, whole.product() / whole[0] / runs};
  const NodeId y = call.layer_norm(call.reshape(x, rows), 1, std::nullopt, std::nullopt, call.number("epsilon", 1e-5));
  return call.reshape(y, whole);
}

NodeId scaled(const Call& call, NodeId x, NodeId scale, NodeId bias) {
  const NodeId y = call.binary(BinaryKind::mul, x, of_channels(call, x, scale));
  return call.binary(BinaryKind::add, y, of_channels(call, x, bias));
}

// The numbers of groups, one for each of their channels.
NodeId of_groups(const Call& call, NodeId vector, int64_t channels) {
  const Shape groups = call.shape(vector);
  if (groups.rank() != 1 || groups[0] == 0 || channels % groups[0]) refuse("numbers of {} groups", call.type(vector));
  const NodeId wide = call.broadcast(call.unsqueeze(vector, 1), {groups[0], channels / groups[0]});
  return call.reshape(wide, Shape{channels});
}

}  // namespace

// (x - mean) / sqrt(variance + epsilon) * scale + bias, by the statistics that training left.
Outputs batch_norm(const Call& call) {
  const NodeId x = call[0];
  if (call.integer("training_mode", 0) != 0) refuse("a batch norm in training, wanted a model in eval mode");
  const NodeId scale = call.cast(call[1], DType::f32), bias = call.cast(call[2], DType::f32);
  const NodeId mean = call.cast(call[3], DType::f32), variance = call.cast(call[4], DType::f32);
  const NodeId sum = call.binary(BinaryKind::add, variance, call.scalar(call.number("epsilon", 1e-5), DType::f32));
  const NodeId factor = call.binary(BinaryKind::mul, call.unary(UnaryKind::rsqrt, sum), scale);
  const NodeId shift = call.binary(BinaryKind::sub, bias, call.binary(BinaryKind::mul, mean, factor));
  return {call.cast(scaled(call, call.cast(x, DType::f32), factor, shift), call.dtype(x))};
}

Outputs instance_norm(const Call& call) {
  const NodeId x = call[0];
  return {scaled(call, normalised_runs(call, x, call.shape(x)[1]), call[1], call[2])};
}

// Older versions have a scale and a bias for each group, newer ones for each channel.
Outputs group_norm(const Call& call) {
  const NodeId x = call[0];
  const NodeId y = normalised_runs(call, x, call.integer("num_groups"));
  const int64_t channels = call.shape(x)[1];
  return {scaled(call, y, of_groups(call, call[1], channels), of_groups(call, call[2], channels))};
}

namespace {

// Groups of channels, which stand behind the other axes unless the call says otherwise.
NodeId image_norm(const Call& call, NodeId x, bool are_last) {
  const NodeId image = are_last ? channels_first(call, x) : x;
  const auto cast = [&](NodeId numbers) { return call.cast(numbers, call.dtype(x)); };
  NodeId y = scaled(call, normalised_runs(call, image, call.integer("groups")), cast(call[1]), cast(call[2]));
  if (call.integer("activation") != 0) y = call.unary(UnaryKind::silu, y);
  return are_last ? channels_last(call, y) : y;
}

}  // namespace

Outputs contrib_group_norm(const Call& call) {
  return {image_norm(call, call[0], call.integer("channels_last", 1) != 0)};
}

// norm(x + skip + bias), and the sum; skip may be one number for each channel.
Outputs skip_group_norm(const Call& call) {
  const bool are_last = call.integer("channels_last", 1) != 0;
  const auto for_channels = [&](NodeId numbers) {
    if (call.rank(numbers) > 2) return numbers;
    if (call.rank(numbers) == 0 || call.rank(call[0]) < 2) refuse("{} with {}", call.type(call[0]), call.type(numbers));
    Shape to = Dims::filled(call.rank(call[0]), 1);
    if (call.rank(numbers) == 2) to[0] = call.shape(numbers)[0];
    to[are_last ? to.rank() - 1 : 1] = call.shape(numbers).back();
    return call.reshape(numbers, to);
  };
  NodeId sum = call.binary(BinaryKind::add, call[0], for_channels(call[3]));
  if (call.has(4)) sum = call.binary(BinaryKind::add, sum, for_channels(call[4]));
  return {image_norm(call, sum, are_last), sum};
}

// x / (bias + alpha / size * the sum of squares of neighbouring channels)^beta
Outputs lrn(const Call& call) {
  const NodeId x = call[0];
  const int64_t size = call.integer("size"), channels = call.rank(x) > 1 ? call.shape(x)[1] : 0;
  if (size < 1 || size > 2 * channels + 1) refuse("neighbours of {} channels in {}", size, call.type(x));
  const NodeId squares = call.padded(call.unary(UnaryKind::square, x), 1, (size - 1) / 2, size - 1 - (size - 1) / 2, 0);
  NodeId sum = call.slice(squares, 1, 0, channels);
  for (int64_t i = 1; i < size; ++i) sum = call.binary(BinaryKind::add, sum, call.slice(squares, 1, i, i + channels));
  const DType type = call.dtype(x);
  const NodeId base =
      call.binary(BinaryKind::add, call.scale(sum, call.number("alpha", 1e-4) / static_cast<double>(size)),
                  call.scalar(call.number("bias", 1.0), type));
  const NodeId power = call.binary(BinaryKind::pow, base, call.scalar(-call.number("beta", 0.75), type));
  return {call.binary(BinaryKind::mul, x, power)};
}

}  // namespace rung::onnx::operators
