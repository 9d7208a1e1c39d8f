// The model architectures that an import knows: the way each is recognised in a config.json, and its graph's builder.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <string>

#include "base/json_config.hpp"
#include "import/checkpoint.hpp"
#include "import/model.hpp"

namespace rung::huggingface {

struct ConfigSource {
  const Config& config;
  std::string directory;  // empty: no files
  const ImportOptions& options;
};

// Opens random weights, in the usual type of such a checkpoint, if the options say so; else the directory's files.
Result<std::unique_ptr<Checkpoint>> open_weights(const ConfigSource& source, DType usual);
// Returns the requested shape of an input, or `fallback`.
Shape requested_shape(const ImportOptions& options, const std::string& input, const Shape& fallback);
// Checks the shapes asked for. Errors: an input that the model does not have, or a shape that the model cannot take.
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
