// The table of activation functions, under the names of the published library.
// SPDX-License-Identifier: Apache-2.0
#include "import/huggingface/activation.hpp"

#include <fmt/ranges.h>

#include <vector>

namespace rung::huggingface {
namespace {

template <UnaryKind kKind>
NodeId write_unary(GraphBuilder& builder, NodeId x, const std::string& label) {
  return builder.unary(kKind, x, label);
}

// x sigmoid(1.702 x)
NodeId write_quick_gelu(GraphBuilder& builder, NodeId x, const std::string& label) {
  const NodeId gate = builder.unary(UnaryKind::sigmoid, builder.scale(x, 1.702, label), label);
  return builder.binary(BinaryKind::mul, x, gate, label);
}

constexpr Activation kActivations[] = {
    {"gelu", write_unary<UnaryKind::gelu>},
    {"gelu_new", write_unary<UnaryKind::gelu_tanh>},
    {"gelu_pytorch_tanh", write_unary<UnaryKind::gelu_tanh>},
    {"gelu_fast", write_unary<UnaryKind::gelu_tanh>},
    {"gelu_accurate", write_unary<UnaryKind::gelu_tanh>},
    {"gelu_python", write_unary<UnaryKind::gelu>},
    {"quick_gelu", write_quick_gelu},
    {"relu", write_unary<UnaryKind::relu>},
    {"silu", write_unary<UnaryKind::silu>},
    {"swish", write_unary<UnaryKind::silu>},
    {"tanh", write_unary<UnaryKind::tanh>},
    {"sigmoid", write_unary<UnaryKind::sigmoid>},
};

}  // namespace

const Activation& gelu() { return kActivations[0]; }
const Activation& gelu_tanh() { return kActivations[1]; }

Activation read_activation(ConfigFields& fields, const std::string& field, const char* fallback) {
  return activation_named(fields, field, fields.text(field, fallback));
}

Activation activation_named(ConfigFields& fields, const std::string& field, const std::string& name) {
  std::vector<const char*> known;
  for (const Activation& row : kActivations) {
    if (name == row.name) return row;
    known.push_back(row.name);
  }
  fields.mistake("{} '{}' is not known; known: {}", field, name.substr(0, 60), fmt::join(known, ", "));
  return gelu();
}

}  // namespace rung::huggingface
