// Goes from a prompt in any form to tokens.
// SPDX-License-Identifier: Apache-2.0
#include "tasks/model_text.hpp"

#include <filesystem>

#include "import/huggingface/local_cache.hpp"
#include "open/open_model.hpp"
#include "text/chat_template.hpp"

namespace rung::tasks {

bool is_exported(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::is_regular_file(path, ignored) && !is_plan_file(path);
}

Result<ModelText> ModelText::of_directory(const std::string& path) {
  const std::string directory = is_exported(path) ? std::filesystem::path(path).parent_path().string()
                                                  : huggingface::cached_directory(path).value_or(path);
  RUNG_TRY(TextFiles files, tokenizer_texts(directory));
  RUNG_TRY(GenerationSettings settings, read_generation_settings(directory));
  return ModelText(std::move(files), std::move(settings));
}

Result<ModelText> ModelText::of_plan(const Plan& plan) {
  RUNG_TRY(GenerationSettings settings, read_generation_settings(plan.attachments));
  return ModelText(plan.attachments, std::move(settings));
}

Result<std::vector<int64_t>> ModelText::start_tokens(bool timestamps) const {
  if (!settings_.decoder_start_token_id.value)
    return mismatch(
        "the model's files have no decoder_start_token_id: give decoder_input_ids, with which its text begins");
  std::vector<int64_t> tokens{*settings_.decoder_start_token_id.value};
  if (const auto& language = settings_.forced_bos_token_id.value) tokens.push_back(*language);
  const auto& forced = settings_.forced_decoder_ids.value;
  tokens.insert(tokens.end(), forced.begin(), forced.end());
  if (const auto& none = settings_.no_timestamps_token_id.value; timestamps && none) std::erase(tokens, *none);
  return tokens;
}

Result<const Tokenizer*> ModelText::tokenizer() const {
  if (!tokenizer_) return tl::unexpected(tokenizer_.error());
  return &*tokenizer_;
}

Result<std::vector<int64_t>> ModelText::tokens_of_chat(const std::string& chat) const {
  RUNG_TRY(const Tokenizer* tokenizer, this->tokenizer());
  RUNG_TRY(const auto chat_template, ChatTemplate::from_texts(files_));
  if (!chat_template) return mismatch("the model has no chat template");
  RUNG_TRY(const std::string prompt, chat_template->render({.messages = chat}));
  return tokenizer->pieces(prompt);
}

Result<std::vector<int64_t>> ModelText::tokens_of(const Prompt& prompt, int64_t length) const {
  const int forms = !prompt.text.empty() + !prompt.chat.empty() + !prompt.tokens.empty();
  if (forms > 1 || (forms == 0 && length == 0))
    return wrong_usage("got {} prompts, wanted one: a text, a chat or tokens", forms);
  if (!prompt.chat.empty()) {
    if (length == 0) return tokens_of_chat(prompt.chat);
    return wrong_usage("got a chat behind a text of {} tokens: a chat is a whole text, so reset() comes before it",
                       length);
  }
  if (prompt.text.empty()) return prompt.tokens;
  RUNG_TRY(const Tokenizer* tokenizer, this->tokenizer());
  if (length > 0) return tokenizer->pieces(prompt.text);
  RUNG_TRY(Encoding encoding, tokenizer->encode(prompt.text, {.max_length = INT32_MAX}));
  return std::move(encoding.ids);
}

}  // namespace rung::tasks
