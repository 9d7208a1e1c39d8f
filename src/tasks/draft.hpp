// A draft: a second, smaller model whose guesses at a text another model reads ahead.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "open/options.hpp"
#include "session/decoder.hpp"
#include "tasks/model_text.hpp"

namespace rung::tasks {

// A model as drafts and those who read them know each other.
struct TextWriter {
  const std::string& name;  // for errors
  const ModelText& text;
  const Decoder& decoder;
};

// Errors (mismatch): a draft with an encoder for a model without, another number of tokens, or other tokens where both
// have a tokenizer.
Status check_draft(const TextWriter& model, const TextWriter& draft);

// Opens a draft for the model: a plan file, or a directory, whose plans are built with the model's options on the
// model's device, for texts as long as the model's, or as long as the draft's positions allow, about a source of that
// many tokens. Errors: those of decoder_plans(), Decoder::create() and check_draft().
Result<Decoder> open_draft(const std::string& path, const OpenOptions& options, const TextWriter& model,
                           int64_t source = 0);

}  // namespace rung::tasks
