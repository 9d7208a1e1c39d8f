// The model architectures an import knows: how each is recognised in a config.json, and how it becomes a graph.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <string>

#include "import/checkpoint.hpp"
#include "import/json_config.hpp"
#include "import/model.hpp"

namespace rung::huggingface {

struct ConfigSource {
  const Config& config;
  std::string directory;  // empty: there are no files
  const ImportOptions& options;
};

// Random weights if the options say so, in the type that such a checkpoint usually has; else the directory's files.
Result<std::unique_ptr<Checkpoint>> open_weights(const ConfigSource& source, DType usual);
// The requested shape of an input, or `fallback`.
Shape requested_shape(const ImportOptions& options, const std::string& input, const Shape& fallback);
// Errors: a shape was requested for an input that the model does not have, or one that the model cannot take.
Status check_requested_shapes(const ImportOptions& options, const Model& model);

struct Architecture {
  const char* name;
  bool (*recognises)(const Config& config);
  Result<Model> (*import)(const ConfigSource& source);
};

bool is_bert(const Config& config);
Result<Model> import_bert(const ConfigSource& source);
bool is_pi0(const Config& config);
Result<Model> import_pi0(const ConfigSource& source);

inline constexpr Architecture kArchitectures[] = {
    {"bert", is_bert, import_bert},
    {"pi0", is_pi0, import_pi0},
};

}  // namespace rung::huggingface
