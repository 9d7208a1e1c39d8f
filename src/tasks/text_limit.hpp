// How long a model's texts may be, as its files say it.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "open/options.hpp"

namespace rung::tasks {

struct TextLimit {
  int64_t positions = 0;     // the most tokens of a decoder's text; 0: the files do not say it, or it is no decoder
  std::string architecture;  // "llama"; "exported": a file that holds a graph, which says no number
};

// Asks the files of a model that is no plan; reads no weights. Errors: those of import_model() without weights.
Result<TextLimit> text_limit_of(const OpenOptions& model);

// Returns whether the model's decoder goes on from a source that its files do not tell of, as a policy's does.
bool is_policy(const TextLimit& limit);

}  // namespace rung::tasks
