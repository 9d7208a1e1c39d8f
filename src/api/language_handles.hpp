// The objects behind the handles of language models, their sessions and generations.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <string>

#include "api/handles.hpp"
#include "base/forks.hpp"
#include "rung/language_model.h"
#include "session/decoder.hpp"
#include "session/entrance.hpp"
#include "tasks/text_generation.hpp"
#include "text/action_tokenizer.hpp"

namespace rung {

struct OpenLanguageModel {
  std::string path;  // for errors
  tasks::ModelText text;
  PlanSet plans;
  int64_t vocabulary = 0, most_tokens = 0;
  MadeIn made_in = {};
};

// Generations hold it, too, and use it one call at a time.
struct OpenTextSession {
  OpenTextSession(std::shared_ptr<const OpenLanguageModel> of, Decoder with)
      : model(std::move(of)), decoder(std::make_shared<Decoder>(std::move(with))) {}
  std::shared_ptr<const OpenLanguageModel> model;
  std::shared_ptr<Decoder> decoder;
  std::shared_ptr<const OpenLanguageModel> draft_model;  // whose guesses were wanted last; null: nobody's
  std::shared_ptr<Decoder> draft;                        // of it
  NamedTensors source;                                   // that was read last
  Entrance entrance;
};

struct OpenGeneration {
  std::shared_ptr<OpenTextSession> session;
  tasks::TextGeneration generation;
  std::string text = {};  // of the last piece
};

using ActionTokenizers = HandleTable<rung_action_tokenizer, const ActionTokenizer>;
using LanguageModels = HandleTable<rung_language_model, const std::shared_ptr<const OpenLanguageModel>>;
using TextSessions = HandleTable<rung_text_session, const std::shared_ptr<OpenTextSession>>;
using Generations = HandleTable<rung_generation, OpenGeneration>;

// Converts a prompt; NULL: none. Errors: RUNG_USAGE.
Result<tasks::Prompt> prompt_of(const rung_prompt* prompt);
// Writes tokens where there is room for all, and says how many there are. Errors: RUNG_USAGE, NULL.
Status write_tokens(std::span<const int64_t> tokens, rung_tokens* place);

}  // namespace rung
