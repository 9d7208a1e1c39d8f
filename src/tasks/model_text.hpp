// The part of a decoder language model that is beside its weights: its tokenizer, its chat template and how it wants
// to be sampled.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "open/options.hpp"
#include "plan/plan_set.hpp"
#include "text/generation_settings.hpp"
#include "text/text_stream.hpp"

namespace rung::tasks {

// Says whether the path is an exported file, whose graph reads one token a run.
bool is_exported(const std::string& path);

// The beginning of a text: one of the three, or nothing.
struct Prompt {
  std::string text;             // for the model's tokenizer, used unchanged
  std::string chat;             // a list of messages as JSON, which the model's template makes the prompt of
  std::vector<int64_t> tokens;  // used unchanged
};

// Any number of threads may use it.
class ModelText {
 public:
  // Reads the files of a directory, or of the one that an exported file is in. Errors: those of tokenizer_texts() and
  // read_generation_settings().
  static Result<ModelText> of_directory(const std::string& path);
  // Does the same of the files in a plan; it does not hold config.json, which may name the tokens that end a text, too.
  static Result<ModelText> of_plan(const Plan& plan);

  // Returns the tokens of a prompt behind a text of that many tokens: a text that goes on has no special tokens around
  // it. Errors: several prompts, or none where there is no text; a chat behind a text (usage); no tokenizer or no chat
  // template; what the template refuses.
  Result<std::vector<int64_t>> tokens_of(const Prompt& prompt, int64_t length = 0) const;
  // Returns the tokens with which the text of a decoder behind an encoder begins; for a text with timestamps without
  // the one that says that it has none. Errors: the files name none.
  Result<std::vector<int64_t>> start_tokens(bool timestamps = false) const;
  // Errors: the model has no tokenizer, or one that cannot be read.
  Result<const Tokenizer*> tokenizer() const;
  const GenerationSettings& settings() const { return settings_; }

 private:
  ModelText(TextFiles files, GenerationSettings settings)
      : files_(std::move(files)), settings_(std::move(settings)), tokenizer_(Tokenizer::from_texts(files_)) {}
  Result<std::vector<int64_t>> tokens_of_chat(const std::string& chat) const;

  TextFiles files_;
  GenerationSettings settings_;
  Result<Tokenizer> tokenizer_;
};

}  // namespace rung::tasks
