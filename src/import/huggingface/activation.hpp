// The activation functions that a config.json names.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "import/graph_builder.hpp"
#include "import/huggingface/config_fields.hpp"

namespace rung::huggingface {

struct Activation {
  const char* name;  // in config.json
  NodeId (*write)(GraphBuilder& builder, NodeId x, const std::string& label);
};

// Return the activations that some architectures have whatever the config says.
const Activation& gelu();
const Activation& gelu_tanh();

// Reads the activation that a field names; a name that is not known is a mistake of the fields.
Activation read_activation(ConfigFields& fields, const std::string& field, const char* fallback);
// Does the same for a name that the field's text has a part of.
Activation activation_named(ConfigFields& fields, const std::string& field, const std::string& name);

}  // namespace rung::huggingface
