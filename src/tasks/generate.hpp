// Makes a text with a decoder language model, and tells how long it took.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "open/options.hpp"
#include "plan/recipe.hpp"
#include "tasks/text_generation.hpp"
#include "text/action_tokenizer.hpp"

namespace rung::tasks {

// Names the tokenizer that makes actions of a policy's tokens.
struct ActionTask {
  std::string tokenizer;   // FAST's directory
  ActionShape shape = {};  // of what its files do not say
  int64_t skipped_tokens = PolicyTokens{}.skipped;
};

struct GenerateTask {
  OpenOptions model;   // its input input_ids may be given as the prompt
  std::string text;    // the prompt for the model's tokenizer, used unchanged; empty: none
  std::string chat;    // a list of messages as JSON, which the model's template makes the prompt of; empty: none
  int64_t length = 0;  // of a directory: the most tokens of the text; 0: those of the prompt and the new ones,
                       // as far as the model has positions
  std::string draft;   // a second model's path, as open_draft() takes it; empty: none
  GenerateOptions options;
  std::optional<Recipe> recipe = {};  // of a directory, for all of its plans; none: the default one
  std::optional<ActionTask> actions = {};
  // Called with each piece of the text as soon as it is certain; false: nobody listens any more, and the text ends.
  std::function<bool(std::string_view)> hear = [](std::string_view) { return true; };
};

// `stopped_by` may be "listener", too. Errors: no prompt or several (usage); those of open_decoder(), open_draft(), of
// the tokenizer, of the template and of the model's settings; a prompt beyond the model's positions, or with tokens
// that it does not have; scores that are no numbers; those of ActionTokenizer::open() and decode_policy().
Result<Generated> generate(const GenerateTask& task);

}  // namespace rung::tasks
