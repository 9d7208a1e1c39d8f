// Operators that ONNX Runtime makes of several of ONNX's when it optimises a graph.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "import/onnx/layouts.hpp"
#include "import/onnx/operators.hpp"
#include "import/onnx/quantised.hpp"
#include "import/onnx/windows.hpp"

namespace rung::onnx::operators {
namespace {

using exported::refuse;

AttributeProto parameter(std::string name, double value) {
  AttributeProto attribute;
  attribute.kind = AttributeKind::f;
  attribute.name = std::move(name);
  attribute.f = static_cast<float>(value);
  return attribute;
}

// The activations that ONNX Runtime fuses, with the names of their parameters in its order.
struct Activation {
  std::string_view name;
  std::vector<std::string> parameters;
};
const std::vector<Activation>& activations() {
  static const std::vector<Activation> all{{"Relu", {}},
                                           {"Tanh", {}},
                                           {"Sigmoid", {}},
                                           {"Softplus", {}},
                                           {"Softsign", {}},
                                           {"LeakyRelu", {"alpha"}},
                                           {"Elu", {"alpha"}},
                                           {"ThresholdedRelu", {"alpha"}},
                                           {"Clip", {"min", "max"}},
                                           {"Selu", {"alpha", "gamma"}},
                                           {"HardSigmoid", {"alpha", "beta"}}};
  return all;
}

const Activation& activation_of(const Call& call) {
  const std::string name = call.text("activation", "");
  const auto found = std::ranges::find(activations(), name, &Activation::name);
  if (found == activations().end()) refuse("activation '{}' is not imported", name);
  return *found;
}

}  // namespace

namespace {

// The activation of a convolution, whose parameters are a list.
NodeId activated(const Call& call, NodeId y) {
  if (call.text("activation", "").empty()) return y;
  const Activation& activation = activation_of(call);
  const std::vector<float> given = call.numbers("activation_params");
  if (given.size() != activation.parameters.size())
    refuse("{} with {} parameters, wanted {}", activation.name, given.size(), activation.parameters.size());
  std::vector<AttributeProto> attributes;
  for (size_t i = 0; i < given.size(); ++i)
    attributes.push_back(parameter(activation.parameters[i], static_cast<double>(given[i])));
  return call.applied(std::string(activation.name), y, attributes);
}

// activation(conv(x, w) + bias + z)
NodeId fused_convolution(const Call& call, NodeId x, std::optional<NodeId> z) {
  exported::Emit::ConvolutionCall described = described_convolution(call, x, call[1]);
  described.bias = call.optional(2);
  const NodeId y = call.convolution(described);
  return activated(call, z ? call.binary(BinaryKind::add, y, *z) : y);
}

}  // namespace

Outputs fused_conv(const Call& call) { return {fused_convolution(call, call[0], call.optional(3))}; }

// Channels of x and z stand behind the other axes.
Outputs nhwc_fused_conv(const Call& call) {
  const auto z = call.has(3) ? std::optional(channels_first(call, call[3])) : std::nullopt;
  return {channels_last(call, fused_convolution(call, channels_first(call, call[0]), z))};
}

// The first half of x + bias times the GELU of the second.
Outputs bias_split_gelu(const Call& call) {
  const NodeId sum = call.binary(BinaryKind::add, call[0], call[1]);
  if (call.rank(sum) == 0 || call.shape(sum).back() % 2 != 0) refuse("halves of {}", call.type(sum));
  const int64_t half = call.shape(sum).back() / 2;
  const NodeId gate = call.unary(UnaryKind::gelu, call.slice(sum, -1, half, 2 * half));
  return {call.binary(BinaryKind::mul, call.slice(sum, -1, 0, half), gate)};
}

// x + bias + skip
Outputs bias_add(const Call& call) {
  return {call.binary(BinaryKind::add, call.binary(BinaryKind::add, call[0], call[1]), call[2])};
}

// activation(alpha A B + beta C); parameters that are left out are the activation's own.
Outputs fused_gemm(const Call& call) {
  const NodeId y = gemm(call).at(0);
  if (call.text("activation", "").empty()) return {y};
  const Activation& activation = activation_of(call);
  std::vector<AttributeProto> attributes;
  for (const std::string& name : activation.parameters)
    if (const AttributeProto* given = call.find("activation_" + name, AttributeKind::f))
      attributes.push_back(parameter(name, static_cast<double>(given->f)));
  return {call.applied(std::string(activation.name), y, attributes)};
}

namespace {

// Tables of words, places and segments, and the weight and bias of a norm.
struct Embedding {
  NodeId words, places;
  std::optional<NodeId> segments;
  NodeId weight, bias;
};

// The norm of the sum of a row of each table; further results: the lengths of rows by the mask that is an input, 0
// without one, and the sum.
Outputs embedded(const Call& call, const Embedding& of, size_t mask, size_t ids) {
  const NodeId words = call[0];
  if (call.rank(words) != 2) refuse("words of {}, wanted [batch, tokens]", call.type(words));
  const int64_t batch = call.shape(words)[0], tokens = call.shape(words)[1];
  const NodeId places = call.has(ids) ? call[ids] : call.unsqueeze(call.counted(tokens, 0, 1), 0);
  NodeId sum = call.binary(BinaryKind::add, call.gather(of.words, words, 0), call.gather(of.places, places, 0));
  if (call.has(1)) {
    if (!of.segments) refuse("input 4 is missing: the table of segments");
    sum = call.binary(BinaryKind::add, sum, call.gather(*of.segments, call[1], 0));
  }
  Outputs results{call.layer_norm(sum, 1, of.weight, of.bias, call.number("epsilon", 1e-12)), kNoNode, sum};
  if (call.node().outputs.size() < 2 || call.node().outputs[1].empty()) return results;
  results[1] = call.has(mask)
                   ? call.cast(call.reduce(ReduceKind::sum, call.cast(call[mask], DType::f32), {1}, false), DType::i32)
                   : call.broadcast(call.scalar(0, DType::i32), Shape{batch});
  return results;
}

}  // namespace

Outputs embed_layer_norm(const Call& call) {
  return embedded(call, {call[2], call[3], call.optional(4), call[5], call[6]}, 7, 8);
}

// Tables, weight and bias of bytes: each has a scale six inputs behind it, and a zero point another five.
Outputs quantised_embed_layer_norm(const Call& call) {
  const auto floats = [&](size_t input) { return dequantised(call, {input, input + 6, input + 11}); };
  const auto segments = call.has(4) ? std::optional(floats(4)) : std::nullopt;
  Outputs results = embedded(call, {floats(2), floats(3), segments, floats(5), floats(6)}, 7, call.count());
  results.resize(2);  // its schema has no sum
  return results;
}

}  // namespace rung::onnx::operators
