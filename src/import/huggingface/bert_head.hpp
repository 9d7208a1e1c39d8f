// The head on top of a BERT encoder, which no importer builds: it is dropped on request, and never without a word.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "import/huggingface/architecture.hpp"

namespace rung::huggingface {

// Does a tensor of the checkpoint stand outside the encoder? `root`: the encoder's prefix, "bert" or none.
bool is_of_head(const std::string& tensor, const std::string& root);
// One of the published library's own heads, by its name.
bool is_of_known_head(const std::string& tensor);

// Errors: config.json's `architectures` or the checkpoint's tensors say that the model has a head.
Status refuse_head(const ConfigSource& source, const Checkpoint& checkpoint, const std::string& root);

}  // namespace rung::huggingface
