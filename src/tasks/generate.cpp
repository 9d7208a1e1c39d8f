// Opens a model for one text, whose length decides how much its caches hold.
// SPDX-License-Identifier: Apache-2.0
#include "tasks/generate.hpp"

#include "open/open_model.hpp"
#include "tasks/decoder.hpp"

namespace rung::tasks {
namespace {

Result<ModelText> text_of(const GenerateTask& task) {
  if (!is_plan_file(task.model.path)) return ModelText::of_directory(task.model.path);
  OpenOptions plan = task.model;
  plan.inputs = {};
  RUNG_TRY(Opened opened, open_model(plan));
  return ModelText::of_plan(opened.plans->first());
}

Result<std::vector<int64_t>> given_tokens(const GenerateTask& task) {
  RUNG_TRY(NamedTensors arrays, task.model.inputs.read([](const std::string& name, const Type&) -> Result<bool> {
    if (name != "input_ids") return wrong_usage("got the input '{}', wanted input_ids alone", name);
    return true;
  }));
  const auto ids = arrays.find("input_ids");
  if (ids == arrays.end()) return wrong_usage("got inputs without input_ids");
  const Tensor& tokens = ids->second;
  if (tokens.dtype() != DType::i64) return wrong_usage("input_ids: got {}, wanted i64[1,S]", tokens.type());
  const auto values = tokens.as<int64_t>();
  return std::vector<int64_t>(values.begin(), values.end());
}

Result<std::vector<int64_t>> prompt_of(const GenerateTask& task, const ModelText& text) {
  Prompt prompt{.text = task.text, .chat = task.chat, .tokens = {}};
  if (task.model.inputs.read) {
    RUNG_TRY(prompt.tokens, given_tokens(task));
  }
  return text.tokens_of(prompt);
}

}  // namespace

Result<Generated> generate(const GenerateTask& task) {
  RUNG_TRY(const ModelText text, text_of(task));
  RUNG_TRY(const std::vector<int64_t> prompt, prompt_of(task, text));
  DecoderTask open{.model = task.model, .length = task.length};
  open.model.inputs = {};
  if (task.model.cache.scored_chunk > 0) open.scored_chunk = task.model.cache.scored_chunk;
  if (open.length == 0) open.length = static_cast<int64_t>(prompt.size()) + task.options.most;
  RUNG_TRY(Decoder decoder, open_decoder(open));
  RUNG_TRY(TextGeneration generation,
           TextGeneration::begin(text, std::make_shared<Decoder>(std::move(decoder)), prompt, task.options));
  for (bool listens = true; listens;) {
    RUNG_TRY(const std::optional<Piece> piece, generation.next());
    if (!piece) return generation.made();
    listens = piece->text.empty() || task.hear(piece->text);
  }
  Generated made = generation.made();
  if (made.stopped_by.empty()) made.stopped_by = "listener";
  return made;
}

}  // namespace rung::tasks
