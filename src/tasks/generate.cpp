// Opens a model for one text, whose length decides how much its caches hold.
// SPDX-License-Identifier: Apache-2.0
#include "tasks/generate.hpp"

#include <algorithm>

#include "open/open_model.hpp"
#include "plan/named.hpp"
#include "tasks/decoder.hpp"
#include "tasks/draft.hpp"
#include "tasks/text_limit.hpp"

namespace rung::tasks {
namespace {

constexpr const char *kTokens = "input_ids", *kDecoderTokens = "decoder_input_ids";

struct TextModel {
  ModelText text;
  bool has_encoder;
  TextLimit limit = {};               // of a directory
  std::optional<PlanSet> plans = {};  // of a plan file
};

Result<TextModel> text_model_of_files(const GenerateTask& task) {
  const std::string& path = task.model.path;
  RUNG_TRY(TextLimit limit, text_limit_of(task.model));
  RUNG_TRY(ModelText text, ModelText::of_directory(path));
  const bool has_encoder =
      text.settings().is_encoder_decoder.value || is_policy(limit) || task.model.inputs.types.contains(kDecoderTokens);
  if (!has_encoder && !is_exported(path) && limit.positions == 0)
    return mismatch("'{}' ({}) is no decoder language model", path, limit.architecture);
  return TextModel{std::move(text), has_encoder, std::move(limit)};
}

Result<TextModel> text_model_of(const GenerateTask& task) {
  if (!is_plan_file(task.model.path)) return text_model_of_files(task);
  OpenOptions plan = task.model;
  plan.inputs = {};
  RUNG_TRY(Opened opened, open_model(plan));
  RUNG_TRY(ModelText text, ModelText::of_plan(opened.plans->first()));
  const bool has_encoder = std::ranges::any_of(
      *opened.plans, [](const auto& one) { return find_named(one->inputs, kDecoderTokens) != nullptr; });
  return TextModel{std::move(text), has_encoder, {}, std::move(opened.plans)};
}

// All that is given before the first new token.
struct Beginning {
  NamedTensors source;          // what an encoder reads
  std::vector<int64_t> tokens;  // with which the decoder's text begins
};

Result<std::vector<int64_t>> token_values(const std::string& name, const Tensor& tokens) {
  if (tokens.dtype() != DType::i64 && tokens.dtype() != DType::i32)
    return wrong_usage("{}: got {}, wanted i64[1,S]", name, tokens.type());
  const Tensor wide = convert(tokens, DType::i64);
  const auto values = wide.as<int64_t>();
  return std::vector<int64_t>(values.begin(), values.end());
}

Result<Beginning> given_arrays_of(const GenerateTask& task, bool has_encoder) {
  RUNG_TRY(NamedTensors arrays, task.model.inputs.read([&](const std::string& name, const Type&) -> Result<bool> {
    if (!has_encoder && name != kTokens) return wrong_usage("got the input '{}', wanted input_ids alone", name);
    return true;
  }));
  Beginning beginning;
  const char* name = has_encoder ? kDecoderTokens : kTokens;
  if (const auto tokens = arrays.extract(name)) {
    RUNG_TRY(beginning.tokens, token_values(name, tokens.mapped()));
  } else if (!has_encoder) {
    return wrong_usage("got inputs without input_ids");
  }
  beginning.source = std::move(arrays);
  return beginning;
}

// A text or a chat is the source of a model with an encoder, whose decoder begins with tokens that its files name.
Result<Beginning> beginning_of(const GenerateTask& task, const TextModel& model) {
  const bool has_text = !task.text.empty() || !task.chat.empty();
  Beginning beginning;
  if (task.model.inputs.read) {
    RUNG_TRY(beginning, given_arrays_of(task, model.has_encoder));
    if (model.has_encoder && has_text)
      return wrong_usage("got a text or a chat, and inputs: wanted one of them, which the encoder reads");
  }
  if (has_text || !task.model.inputs.read || !model.has_encoder) {
    const Prompt prompt{.text = task.text, .chat = task.chat, .tokens = beginning.tokens};
    RUNG_TRY(beginning.tokens, model.text.tokens_of(prompt));
  }
  if (!model.has_encoder) return beginning;
  if (has_text) {
    const auto count = static_cast<int64_t>(beginning.tokens.size());
    beginning.source.emplace(kTokens, Tensor::of<int64_t>({1, count}, beginning.tokens));
    beginning.tokens.clear();
  }
  if (beginning.tokens.empty()) {
    RUNG_TRY(beginning.tokens, model.text.start_tokens(task.options.timestamps));
  }
  return beginning;
}

// Returns the tokens of a source; 0: it is no text.
int64_t source_length(const Beginning& beginning) {
  const auto source = beginning.source.find(kTokens);
  return source != beginning.source.end() && source->second.shape().rank() == 2 ? source->second.shape()[1] : 0;
}

// Returns room for the text that is asked for. A language model of a directory says how many positions it has: where a
// text begins within them, it ends where they do.
int64_t usual_length(const GenerateTask& task, const Beginning& beginning, int64_t positions) {
  const auto begun = static_cast<int64_t>(beginning.tokens.size()), wanted = begun + task.options.most;
  return positions > 0 && begun <= positions ? std::min(wanted, positions) : wanted;
}

Result<DecoderTask> decoder_task(const GenerateTask& task, const Beginning& beginning, const TextModel& model) {
  DecoderTask open{.model = task.model, .length = task.length, .has_encoder = model.has_encoder, .recipe = task.recipe};
  open.model.inputs = {};
  if (is_exported(task.model.path)) open.chunks = {1};
  if (task.model.cache.scored_chunk > 0) open.scored_chunk = task.model.cache.scored_chunk;
  if (open.length == 0) open.length = usual_length(task, beginning, model.limit.positions);
  open.source = source_length(beginning);
  return open;
}

Result<Decoder> decoder_of(const GenerateTask& task, const Beginning& beginning, TextModel& model) {
  if (model.plans && task.recipe) return wrong_usage("'{}' is a plan, which has its own recipe", task.model.path);
  if (model.plans) return Decoder::create(std::move(*model.plans));
  RUNG_TRY(const DecoderTask open, decoder_task(task, beginning, model));
  return open_decoder(open);
}

// Returns the task's options with the draft that it names.
Result<GenerateOptions> options_of(const GenerateTask& task, const Beginning& beginning, const ModelText& text,
                                   const Decoder& decoder) {
  GenerateOptions options = task.options;
  if (task.draft.empty()) return options;
  RUNG_TRY(Decoder draft,
           open_draft(task.draft, task.model, {task.model.path, text, decoder}, source_length(beginning)));
  options.draft = std::make_shared<Decoder>(std::move(draft));
  return options;
}

Result<std::optional<ActionTokenizer>> action_tokenizer_of(const GenerateTask& task) {
  if (!task.actions) return std::nullopt;
  RUNG_TRY(ActionTokenizer tokenizer, ActionTokenizer::open(task.actions->tokenizer, task.actions->shape));
  return std::optional(std::move(tokenizer));
}

// A text that was left before its end has no actions.
Status add_actions(const ActionTokenizer& tokenizer, PolicyTokens place, Generated& made) {
  RUNG_TRY(const std::vector<double> values, tokenizer.decode_policy(made.tokens, place));
  made.actions.emplace();
  for (auto row = values.begin(); row != values.end(); row += tokenizer.shape().dims)
    made.actions->emplace_back(row, row + tokenizer.shape().dims);
  return {};
}

}  // namespace

Result<Generated> generate(const GenerateTask& task) {
  RUNG_TRY(const auto action_tokenizer, action_tokenizer_of(task));
  RUNG_TRY(TextModel model, text_model_of(task));
  RUNG_TRY(const Beginning beginning, beginning_of(task, model));
  RUNG_TRY(Decoder decoder, decoder_of(task, beginning, model));
  if (decoder.has_encoder() && beginning.source.empty()) RUNG_CHECK(decoder.read({}));  // names what is missing
  RUNG_TRY(const GenerateOptions options, options_of(task, beginning, model.text, decoder));
  const int64_t vocabulary = decoder.vocabulary();
  RUNG_TRY(TextGeneration generation, TextGeneration::begin(model.text, std::make_shared<Decoder>(std::move(decoder)),
                                                            beginning.tokens, options, beginning.source));
  for (bool listens = true; listens;) {
    RUNG_TRY(const std::optional<Piece> piece, generation.next());
    if (!piece) {
      RUNG_TRY(Generated made, generation.made());
      if (action_tokenizer)
        RUNG_CHECK(add_actions(*action_tokenizer, {vocabulary, task.actions->skipped_tokens}, made));
      return made;
    }
    listens = piece->text.empty() || task.hear(piece->text);
  }
  RUNG_TRY(Generated made, generation.made());
  if (made.stopped_by.empty()) made.stopped_by = "listener";
  return made;
}

}  // namespace rung::tasks
