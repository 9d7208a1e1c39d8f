// The head on top of a BERT encoder, which no importer builds: it is dropped on request, and never silently.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "import/huggingface/architecture.hpp"

namespace rung::huggingface {

// Returns whether a tensor of the checkpoint is outside the encoder. `root`: the encoder's prefix, "bert" or none.
bool is_of_head(const std::string& tensor, const std::string& root);
// Returns whether a tensor, by its name, is in one of the published library's own heads.
bool is_of_known_head(const std::string& tensor);

// Refuses a head. Errors: config.json's `architectures` or the checkpoint's tensors say that the model has one.
Status refuse_head(const ConfigSource& source, const Checkpoint& checkpoint, const std::string& root);

}  // namespace rung::huggingface
