// Texts of the C interface: sessions that remember them, and generations that make them.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <nlohmann/json.hpp>

#include "api/asked_to_end.hpp"
#include "api/language_handles.hpp"
#include "api/options.hpp"
#include "api/tensors.hpp"
#include "base/json.hpp"
#include "tasks/draft.hpp"

namespace rung {
namespace {

Status check_process(const OpenLanguageModel& model) {
  if (!model.made_in.another_process()) return {};
  return wrong_usage("this model was opened before this process was forked: open it in the child");
}

rung_text_session* handle_of_text(std::shared_ptr<const OpenLanguageModel> model, Decoder decoder) {
  auto session = std::make_shared<OpenTextSession>(std::move(model), std::move(decoder));
  return table<TextSessions>().open(std::make_unique<const std::shared_ptr<OpenTextSession>>(std::move(session)));
}

// Calls `call` with the session, which no other thread uses meanwhile.
template <class Call>
rung_status in_session(rung_text_session* handle, const Call& call) {
  return answer([&]() -> Status {
    const auto open = table<TextSessions>().use(handle);
    RUNG_CHECK(want_open(open, "session"));
    RUNG_TRY(const auto stay, (*open)->entrance.enter());
    return call(*open);
  });
}

Status feed_tokens(Decoder& decoder, std::span<const int64_t> tokens, float* logits, size_t logit_count) {
  const auto vocabulary = static_cast<size_t>(decoder.vocabulary());
  if (logits && logit_count != vocabulary)
    return wrong_usage("got room for {} logits, wanted {}, the vocabulary", logit_count, vocabulary);
  if (!logits && logit_count > 0) return want(logits, "logits");
  if (!tokens.empty() || !decoder.logits()) RUNG_CHECK(decoder.take(tokens));
  if (logits) std::ranges::copy(decoder.logits()->as<float>(), logits);
  return {};
}

// -1: as the model's own files say.
template <class T, class Given>
std::optional<T> wish(Given value) {
  return value == Given{-1} ? std::nullopt : std::optional(static_cast<T>(value));
}

Result<std::optional<Speculate>> speculate_of(rung_speculate given) {
  switch (given) {
    case RUNG_SPECULATE_OFF:
      return Speculate::off;
    case RUNG_SPECULATE_ON:
      return Speculate::on;
    case RUNG_SPECULATE_AUTO:
      return Speculate::automatic;
    case RUNG_SPECULATE_USUAL:
      return std::nullopt;
  }
  return wrong_usage("speculate: got {}, wanted {} (off), {} (on), {} (auto) or {} (usual)", static_cast<int>(given),
                     static_cast<int>(RUNG_SPECULATE_OFF), static_cast<int>(RUNG_SPECULATE_ON),
                     static_cast<int>(RUNG_SPECULATE_AUTO), static_cast<int>(RUNG_SPECULATE_USUAL));
}

Result<std::shared_ptr<Decoder>> session_of_draft(const OpenLanguageModel& model, const Decoder& decoder,
                                                  const OpenLanguageModel& draft, const NamedTensors& source) {
  RUNG_CHECK(check_process(draft));
  RUNG_TRY(Decoder made, Decoder::create(draft.plans));
  RUNG_CHECK(tasks::check_draft({model.path, model.text, decoder}, {draft.path, draft.text, made}));
  if (made.has_encoder()) RUNG_CHECK(made.read(source));
  return std::make_shared<Decoder>(std::move(made));
}

// Later generations with the same draft go on from what it has read.
Result<std::shared_ptr<Decoder>> draft_for(OpenTextSession& session, const rung_language_model* handle) {
  if (!handle) return nullptr;
  const auto open = table<LanguageModels>().use(handle);
  RUNG_CHECK(want_open(open, "draft"));
  if (session.draft_model != *open) {
    RUNG_TRY(session.draft, session_of_draft(*session.model, *session.decoder, **open, session.source));
    session.draft_model = *open;
  }
  return session.draft;
}

Result<tasks::GenerateOptions> generate_options(OpenTextSession& session, const rung_generate_options* options) {
  RUNG_TRY(auto given, options_of(options, rung_generate_options RUNG_GENERATE_OPTIONS_INIT, "rung_generate_options"));
  if (given.top_k < -1) return wrong_usage("top_k: got {}, wanted 0 or more, or -1 for the model's own", given.top_k);
  tasks::GenerateOptions made{.most = given.most,
                              .sampling = {.temperature = wish<double>(given.temperature),
                                           .top_p = wish<double>(given.top_p),
                                           .min_p = wish<double>(given.min_p),
                                           .repetition_penalty = wish<double>(given.repetition_penalty),
                                           .top_k = wish<uint64_t>(given.top_k),
                                           .seed = given.seed},
                              .stops = {},
                              .draft_tokens = given.draft_tokens,
                              .timestamps = given.timestamps,
                              .interrupted = asked_to_end(given.goes_on, given.context)};
  RUNG_TRY(made.speculate, speculate_of(given.speculate));
  RUNG_TRY(made.stops, texts_of(given.stops, given.stop_count, "stops"));
  RUNG_TRY(made.draft, draft_for(session, given.draft));
  return made;
}

Status read_source(OpenTextSession& session, NamedTensors source) {
  RUNG_CHECK(session.decoder->read(source));
  session.source = std::move(source);
  session.draft_model.reset();  // a draft reads the source when one is wanted
  return {};
}

// Reads a text or a chat as the source of a new text where there is an encoder. Returns whether it was one.
Result<bool> read_text_source(OpenTextSession& session, const tasks::Prompt& prompt) {
  if (!session.decoder->has_encoder() || (prompt.text.empty() && prompt.chat.empty())) return false;
  if (session.decoder->length() > 0)
    return wrong_usage(
        "got a text behind a text of {} tokens: the encoder reads it as a source, so reset() comes first",
        session.decoder->length());
  RUNG_TRY(const auto tokens, session.model->text.tokens_of(prompt));
  NamedTensors source;
  source.emplace("input_ids", Tensor::of<int64_t>({1, static_cast<int64_t>(tokens.size())}, tokens));
  RUNG_CHECK(read_source(session, std::move(source)));
  return true;
}

// Returns the tokens that are read behind the session's text.
Result<std::vector<int64_t>> tokens_before(const OpenTextSession& session, const tasks::Prompt& prompt,
                                           bool timestamps) {
  const tasks::ModelText& text = session.model->text;
  const bool begins = session.decoder->has_encoder() && session.decoder->length() == 0 && prompt.tokens.empty();
  return begins ? text.start_tokens(timestamps) : text.tokens_of(prompt, session.decoder->length());
}

Result<OpenGeneration> begin_generation(const std::shared_ptr<OpenTextSession>& session, const rung_prompt* prompt,
                                        const rung_generate_options* options) {
  RUNG_TRY(const tasks::Prompt form, prompt_of(prompt));
  RUNG_TRY(const bool is_source, read_text_source(*session, form));
  RUNG_TRY(const tasks::GenerateOptions given, generate_options(*session, options));
  RUNG_TRY(const auto tokens, tokens_before(*session, is_source ? tasks::Prompt{} : form, given.timestamps));
  RUNG_TRY(auto generation, tasks::TextGeneration::begin(session->model->text, session->decoder, tokens, given));
  return OpenGeneration{session, std::move(generation)};
}

// Calls `call` with the generation, whose session no other thread uses meanwhile.
template <class Call>
rung_status in_generation(rung_generation* handle, const Call& call) {
  return answer([&]() -> Status {
    const auto open = table<Generations>().use(handle);
    RUNG_CHECK(want_open(open, "generation"));
    RUNG_TRY(const auto stay, open->session->entrance.enter());
    return call(*open);
  });
}

Status next_piece(OpenGeneration& open, rung_piece& piece) {
  RUNG_TRY(std::optional<tasks::Piece> made, open.generation.next());
  if (made) open.text = std::move(made->text);
  piece = made ? rung_piece{made->token, open.text.c_str(), open.text.size()} : rung_piece{-1, "", 0};
  return {};
}

}  // namespace
}  // namespace rung

using rung::answer;
using rung::OpenTextSession;
using rung::Status;
using rung::table;
using rung::TextSessions;
using SharedSession = std::shared_ptr<OpenTextSession>;

rung_status rung_text_session_open(const rung_language_model* model, rung_text_session** session) {
  return answer([&]() -> Status {
    const auto open = table<rung::LanguageModels>().use(model);
    RUNG_CHECK(rung::want_open(open, "model"));
    RUNG_CHECK(rung::want(session, "session"));
    RUNG_CHECK(rung::check_process(**open));
    RUNG_TRY(rung::Decoder decoder, rung::Decoder::create((*open)->plans));
    *session = rung::handle_of_text(*open, std::move(decoder));
    return {};
  });
}

rung_status rung_text_session_fork(rung_text_session* session, rung_text_session** fork) {
  return rung::in_session(session, [&](const SharedSession& open) -> Status {
    RUNG_CHECK(rung::want(fork, "fork"));
    RUNG_TRY(rung::Decoder decoder, open->decoder->fork());
    *fork = rung::handle_of_text(open->model, std::move(decoder));
    return {};
  });
}

void rung_text_session_close(rung_text_session* session) { table<TextSessions>().close(session); }

rung_status rung_text_session_feed(rung_text_session* session, const int64_t* tokens, size_t count, float* logits,
                                   size_t logit_count) {
  return rung::in_session(session, [&](const SharedSession& open) -> Status {
    RUNG_TRY(const auto given, rung::array_of(tokens, count, "tokens"));
    return rung::feed_tokens(*open->decoder, given, logits, logit_count);
  });
}

rung_status rung_text_session_read(rung_text_session* session, const rung_named_tensor* source, size_t count) {
  return rung::in_session(session, [&](const SharedSession& open) -> Status {
    RUNG_TRY(const auto given, rung::array_of(source, count, "source"));
    RUNG_TRY(rung::NamedTensors copies, rung::copies_of(given));
    return rung::read_source(*open, std::move(copies));
  });
}

rung_status rung_text_session_truncate(rung_text_session* session, int64_t length) {
  return rung::in_session(session, [&](const SharedSession& open) { return open->decoder->truncate(length); });
}

rung_status rung_text_session_tokens(rung_text_session* session, rung_tokens* tokens) {
  return rung::in_session(
      session, [&](const SharedSession& open) { return rung::write_tokens(open->decoder->tokens(), tokens); });
}

rung_status rung_generation_open(rung_text_session* session, const rung_prompt* prompt,
                                 const rung_generate_options* options, rung_generation** generation) {
  return rung::in_session(session, [&](const SharedSession& open) -> Status {
    RUNG_CHECK(rung::want(generation, "generation"));
    RUNG_TRY(rung::OpenGeneration begun, rung::begin_generation(open, prompt, options));
    *generation = table<rung::Generations>().open(std::make_unique<rung::OpenGeneration>(std::move(begun)));
    return {};
  });
}

void rung_generation_close(rung_generation* generation) { table<rung::Generations>().close(generation); }

rung_status rung_generation_next(rung_generation* generation, rung_piece* piece) {
  return rung::in_generation(generation, [&](rung::OpenGeneration& open) -> Status {
    RUNG_CHECK(rung::want(piece, "piece"));
    return rung::next_piece(open, *piece);
  });
}

rung_status rung_generation_json(rung_generation* generation, char** json) {
  return rung::in_generation(generation, [&](rung::OpenGeneration& open) -> Status {
    RUNG_CHECK(rung::want(json, "json"));
    RUNG_TRY(const auto made, open.generation.made());
    *json = rung::copy_of(rung::dump_json(to_json(made)));
    return {};
  });
}
