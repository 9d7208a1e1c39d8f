// Opens a draft beside its model, and compares their vocabularies.
// SPDX-License-Identifier: Apache-2.0
#include "tasks/draft.hpp"

#include <algorithm>

#include "open/open_model.hpp"
#include "tasks/decoder.hpp"
#include "tasks/text_limit.hpp"

namespace rung::tasks {
namespace {

// Options about the model's graph are not the draft's; a plan has its own type and weights.
OpenOptions options_of_draft(const std::string& path, const OpenOptions& options, const Plan& plan) {
  OpenOptions draft{.path = path,
                    .device = plan.target->word(),
                    .threads = options.threads,
                    .code = options.code,
                    .command_line = options.command_line};
  if (is_plan_file(path)) return draft;
  draft.dtype = options.dtype;
  draft.random_weights = options.random_weights;
  return draft;
}

Result<int64_t> length_of_draft(const OpenOptions& draft, int64_t length) {
  if (is_plan_file(draft.path)) return length;
  RUNG_TRY(const TextLimit limit, text_limit_of(draft));
  return limit.positions > 0 ? std::min(length, limit.positions) : length;
}

// A plan tells it by itself.
Result<bool> is_encoder_decoder(const std::string& path) {
  if (is_plan_file(path)) return false;
  RUNG_TRY(const ModelText text, ModelText::of_directory(path));
  return text.settings().is_encoder_decoder.value;
}

struct OpenWriter {
  ModelText text;
  Decoder decoder;
};

Result<OpenWriter> open_writer(DecoderTask task) {
  const OpenOptions& options = task.model;
  RUNG_TRY(task.length, length_of_draft(options, task.length));
  if (is_exported(options.path)) task.chunks = {1};
  RUNG_TRY(PlanSet plans, decoder_plans(task));
  RUNG_TRY(ModelText text,
           is_plan_file(options.path) ? ModelText::of_plan(plans.first()) : ModelText::of_directory(options.path));
  RUNG_TRY(Decoder decoder, Decoder::create(std::move(plans)));
  return OpenWriter{std::move(text), std::move(decoder)};
}

tl::unexpected<Error> has_an_encoder(const TextWriter& model, const std::string& draft) {
  return mismatch("the draft '{}' has an encoder, and '{}' has none: wanted a model that reads the text alone", draft,
                  model.name);
}

}  // namespace

Status check_draft(const TextWriter& model, const TextWriter& draft) {
  if (draft.decoder.has_encoder() && !model.decoder.has_encoder()) return has_an_encoder(model, draft.name);
  const int64_t wanted = model.decoder.vocabulary(), got = draft.decoder.vocabulary();
  const auto ours = model.text.tokenizer(), drafts = draft.text.tokenizer();
  const bool has_both = ours && drafts;
  if (got != wanted && !has_both)
    return mismatch(
        "the draft '{}' knows {} tokens, and '{}' knows {}: wanted equally many, or tokenizers of both that {}",
        draft.name, got, model.name, wanted, "say that the same tokens have the same numbers");
  const auto other = has_both ? (*drafts)->first_difference(**ours) : std::nullopt;
  if (!other || *other >= std::min(got, wanted)) return {};  // the rest is padding, which texts do not have
  return mismatch("the draft '{}' and '{}' have another token {}: wanted the same tokens", draft.name, model.name,
                  *other);
}

Result<Decoder> open_draft(const std::string& path, const OpenOptions& options, const TextWriter& model,
                           int64_t source) {
  DecoderTask task{.model = options_of_draft(path, options, model.decoder.plan_of_one()),
                   .length = model.decoder.most_tokens(),
                   .scored_chunk = 0,
                   .source = source};
  RUNG_TRY(task.has_encoder, is_encoder_decoder(path));
  if (task.has_encoder && !model.decoder.has_encoder()) return has_an_encoder(model, path);
  auto opened = open_writer(std::move(task));
  if (!opened) return fail_in(opened.error(), "the draft");
  RUNG_CHECK(check_draft(model, {path, opened->text, opened->decoder}));
  return std::move(opened->decoder);
}

}  // namespace rung::tasks
