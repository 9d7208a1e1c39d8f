// Language models of the C interface: opening, and tokens of prompts and back.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "api/language_handles.hpp"
#include "api/options.hpp"
#include "open/open_model.hpp"
#include "tasks/decoder.hpp"
#include "tasks/text_limit.hpp"

namespace rung {
namespace {

constexpr int64_t kUsualCache = 4096;  // tokens

// Asks a directory's files whether there is an encoder, which a policy's do not say, and for the length of texts.
Status ask_model(const char* path, tasks::DecoderTask& task) {
  RUNG_TRY(const tasks::ModelText text, tasks::ModelText::of_directory(path));
  task.has_encoder = text.settings().is_encoder_decoder.value;
  if (task.has_encoder && task.length > 0) return {};
  if (tasks::is_exported(path) && task.length > 0) return {};
  RUNG_TRY(const tasks::TextLimit limit, tasks::text_limit_of(task.model));
  task.has_encoder = task.has_encoder || tasks::is_policy(limit);
  if (task.length > 0) return {};
  if (limit.positions == 0 && (task.has_encoder || tasks::is_exported(path)))
    return wrong_usage("cache: got 0 for '{}', wanted the most tokens of a text: the model's files do not say it",
                       path);
  if (limit.positions == 0) return rung::mismatch("'{}' ({}) is no decoder language model", path, limit.architecture);
  task.length = std::min(kUsualCache, limit.positions);
  return {};
}

Result<tasks::DecoderTask> decoder_task(const char* path, const rung_language_options* options) {
  RUNG_TRY(auto given, options_of(options, rung_language_options RUNG_LANGUAGE_OPTIONS_INIT, "rung_language_options"));
  tasks::DecoderTask task;
  RUNG_TRY(task.model, model_options(path, given.model));
  if (!task.model.shapes.empty()) return wrong_usage("got shapes: a language model takes texts of any length");
  if (given.cache < 0) return wrong_usage("cache: got {} tokens, wanted at least 1, or 0 for the usual", given.cache);
  task.length = given.cache;
  if (given.source < 0)
    return wrong_usage("source: got {} tokens, wanted at least 1, or 0 for the usual", given.source);
  task.source = given.source;
  if (is_plan_file(path) && (task.length > 0 || task.source > 0))
    return wrong_usage("{}: got {} for a plan file, whose caches were decided when it was built",
                       task.length > 0 ? "cache" : "source", std::max(task.length, task.source));
  if (!is_plan_file(path)) RUNG_CHECK(ask_model(path, task));
  return task;
}

Result<std::shared_ptr<const OpenLanguageModel>> open_language_model(const char* path,
                                                                     const rung_language_options* options) {
  RUNG_TRY(const tasks::DecoderTask task, decoder_task(path, options));
  RUNG_TRY(PlanSet plans, tasks::decoder_plans(task));
  RUNG_TRY(tasks::ModelText text,
           is_plan_file(path) ? tasks::ModelText::of_plan(plans.first()) : tasks::ModelText::of_directory(path));
  RUNG_TRY(const Decoder decoder, Decoder::create(plans));
  return std::make_shared<const OpenLanguageModel>(
      OpenLanguageModel{path, std::move(text), std::move(plans), decoder.vocabulary(), decoder.most_tokens()});
}

}  // namespace

Result<tasks::Prompt> prompt_of(const rung_prompt* prompt) {
  RUNG_TRY(auto given, options_of(prompt, rung_prompt RUNG_PROMPT_INIT, "rung_prompt"));
  tasks::Prompt made;
  if (given.text) made.text = given.text_bytes == SIZE_MAX ? given.text : std::string(given.text, given.text_bytes);
  if (given.chat) made.chat = given.chat;
  RUNG_TRY(const auto tokens, array_of(given.tokens, given.token_count, "tokens"));
  made.tokens.assign(tokens.begin(), tokens.end());
  return made;
}

Status write_tokens(std::span<const int64_t> tokens, rung_tokens* place) {
  RUNG_CHECK(want(place, "tokens"));
  if (place->room > 0) RUNG_CHECK(want(place->data, "tokens.data"));
  place->count = tokens.size();
  if (tokens.size() <= place->room) std::ranges::copy(tokens, place->data);
  return {};
}

}  // namespace rung

using rung::answer;
using rung::LanguageModels;
using rung::Status;
using rung::table;

rung_status rung_language_model_open(const char* path, const rung_language_options* options,
                                     rung_language_model** model) {
  return answer([&]() -> Status {
    RUNG_CHECK(rung::want(path, "path"));
    RUNG_CHECK(rung::want(model, "model"));
    RUNG_TRY(auto open, rung::open_language_model(path, options));
    *model = table<LanguageModels>().open(
        std::make_unique<const std::shared_ptr<const rung::OpenLanguageModel>>(std::move(open)));
    return {};
  });
}

void rung_language_model_close(rung_language_model* model) { table<LanguageModels>().close(model); }

int64_t rung_language_model_vocabulary(const rung_language_model* model) {
  const auto open = table<LanguageModels>().use(model);
  return open ? (*open)->vocabulary : 0;
}

int64_t rung_language_model_most_tokens(const rung_language_model* model) {
  const auto open = table<LanguageModels>().use(model);
  return open ? (*open)->most_tokens : 0;
}

rung_status rung_language_model_tokens(const rung_language_model* model, const rung_prompt* prompt,
                                       rung_tokens* tokens) {
  return answer([&]() -> Status {
    const auto open = table<LanguageModels>().use(model);
    RUNG_CHECK(rung::want_open(open, "model"));
    RUNG_TRY(const rung::tasks::Prompt given, rung::prompt_of(prompt));
    RUNG_TRY(const std::vector<int64_t> made, (*open)->text.tokens_of(given));
    return rung::write_tokens(made, tokens);
  });
}

rung_status rung_language_model_decode(const rung_language_model* model, const int64_t* ids, size_t count,
                                       const rung_decode_options* options, rung_text* text) {
  return answer([&]() -> Status {
    const auto open = table<LanguageModels>().use(model);
    RUNG_CHECK(rung::want_open(open, "model"));
    RUNG_TRY(const auto given, rung::array_of(ids, count, "ids"));
    RUNG_CHECK(rung::check_place(text));
    RUNG_TRY(const auto how, rung::decode_options(options));
    RUNG_TRY(const rung::Tokenizer* tokenizer, (*open)->text.tokenizer());
    RUNG_TRY(const std::string decoded, tokenizer->decode(given, how));
    rung::write_text(decoded, *text);
    return {};
  });
}
