// Times each token, and lets its text out as far as it is certain.
// SPDX-License-Identifier: Apache-2.0
#include "tasks/text_generation.hpp"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <numeric>

#include "measure/clock.hpp"
#include "measure/statistics.hpp"
#include "tasks/token_floor.hpp"

namespace rung::tasks {
namespace {

std::vector<std::pair<int64_t, float>> banned(const GenerationSettings& own) {
  std::vector<std::pair<int64_t, float>> bias;
  for (const auto& tokens : {own.suppress_tokens.value, own.bad_words_ids.value})
    for (int64_t token : tokens) bias.emplace_back(token, -std::numeric_limits<float>::infinity());
  return bias;
}

// The caller's wishes come before the model's own settings, and those of a model that samples before the likeliest
// token.
SamplerOptions sampler_options(const SamplingWishes& wishes, const GenerationSettings& own) {
  const bool samples = own.do_sample.value;
  const auto chosen = [](auto wish, double usual) {
    return static_cast<float>(wish ? static_cast<double>(*wish) : usual);
  };
  return {.settings = {.temperature = chosen(wishes.temperature, samples ? own.temperature.value : 0),
                       .top_k = chosen(wishes.top_k, static_cast<double>(own.top_k.value)),
                       .top_p = chosen(wishes.top_p, own.top_p.value),
                       .min_p = chosen(wishes.min_p, own.min_p.value),
                       .repetition = chosen(wishes.repetition_penalty, own.repetition_penalty.value)},
          .seed = static_cast<int64_t>(wishes.seed.value_or(0)),
          .bias = banned(own),
          .not_first = own.begin_suppress_tokens.value};
}

double ms_since(int64_t began) { return static_cast<double>(now_ns() - began) * 1e-6; }

// A model whose tokenizer cannot be read makes tokens alone.
Result<std::optional<TextStream>> stream_of(const ModelText& model, const GenerateOptions& options) {
  const auto tokenizer = model.tokenizer();
  if (!tokenizer && options.stops.empty()) return std::nullopt;
  if (!tokenizer) return tl::unexpected(tokenizer.error());
  RUNG_TRY(TextStream stream, (*tokenizer)->stream());
  return std::optional(std::move(stream));
}

// A prompt must not say that the text has no times.
Result<std::optional<TimestampRules>> rules_of(const GenerateOptions& options, const GenerationSettings& settings,
                                               std::span<const int64_t> prompt) {
  if (!options.timestamps) return std::nullopt;
  RUNG_TRY(const TimestampRules rules, timestamp_rules(settings));
  if (std::ranges::find(prompt, rules.none) != prompt.end())
    return wrong_usage("timestamps: the text begins with token {}, by which it has none", rules.none);
  return std::optional(rules);
}

constexpr int64_t kDraftTokens = 4;

Speculate speculate_of(const GenerateOptions& options) {
  return options.speculate.value_or(options.draft ? Speculate::automatic : Speculate::off);
}

// A run reads the drafts behind one token of the text.
Status check_drafting(const Decoder& decoder, const GenerateOptions& options) {
  if (options.draft_tokens != 0 && !options.draft)
    return wrong_usage("got {} draft tokens, and no draft that makes them", options.draft_tokens);
  if (speculate_of(options) == Speculate::off) return {};
  const int64_t most = decoder.scored_chunk() - 1;
  if (most < 1)
    return wrong_usage(
        "got speculation for plans that give the scores of one token a run: build them with --scored-chunk 8");
  if (options.draft_tokens < 0 || options.draft_tokens > most)
    return wrong_usage("got {} draft tokens, wanted 1 to {}: one run gives the scores of {} tokens at most",
                       options.draft_tokens, most, most + 1);
  return {};
}

// Makes a draft model that has read the source and the text. Null: no other model guesses.
Result<std::shared_ptr<DraftModel>> draft_behind(const Decoder& decoder, const GenerateOptions& options,
                                                 const NamedTensors& source) {
  if (!options.draft || speculate_of(options) == Speculate::off) return nullptr;
  const int64_t usual = std::min(kDraftTokens, decoder.scored_chunk() - 1);
  auto draft = std::make_shared<DraftModel>(options.draft, options.draft_tokens > 0 ? options.draft_tokens : usual);
  auto read = options.draft->has_encoder() && !source.empty() ? options.draft->read(source) : Status{};
  if (read) read = draft->read(decoder.tokens(), options.interrupted);
  if (!read) return fail_in(read.error(), "the draft");
  return draft;
}

}  // namespace

Result<TextGeneration> TextGeneration::begin(const ModelText& model, std::shared_ptr<Decoder> decoder,
                                             std::span<const int64_t> prompt, const GenerateOptions& options,
                                             const NamedTensors& source) {
  if (options.most < 1) return wrong_usage("got {} new tokens, wanted at least 1", options.most);
  RUNG_TRY(std::optional<TextStream> stream, stream_of(model, options));
  RUNG_TRY(StopStrings stops, StopStrings::make(options.stops));
  SamplerOptions choice = sampler_options(options.sampling, model.settings());
  RUNG_TRY(choice.timestamps, rules_of(options, model.settings(), prompt));
  RUNG_TRY(Sampler sampler, Sampler::make(decoder->vocabulary(), choice));
  RUNG_CHECK(check_drafting(*decoder, options));
  const int64_t began = now_ns();
  if (!source.empty()) RUNG_CHECK(decoder->read(source));
  if (!prompt.empty()) RUNG_CHECK(decoder->take(prompt, options.interrupted));
  RUNG_TRY(auto draft, draft_behind(*decoder, options, source));
  const double prefill_ms = ms_since(began);
  const auto& ends = model.settings().eos_token_ids.value;
  Generation generation(std::move(decoder), std::move(sampler),
                        {.stops = {ends.begin(), ends.end()},
                         .most = options.most,
                         .speculate = speculate_of(options),
                         .draft = std::move(draft),
                         .steps = options.timestamps ? 0 : options.steps});  // the rules are the host's
  TextGeneration made(std::move(generation), std::move(stream), std::move(stops));
  made.made_.prompt_tokens = static_cast<int64_t>(prompt.size());
  made.made_.prefill_ms = prefill_ms;
  if (made.stream_) made.made_.text.emplace();
  made.timestamps_ = choice.timestamps;
  if (const auto tokenizer = model.tokenizer(); tokenizer && choice.timestamps) made.tokenizer_ = **tokenizer;
  return made;
}

// A token that ends the text, or says a time, has no text of its own.
Status TextGeneration::add_text(Piece& piece) {
  if (!stream_) return {};
  const bool is_time = timestamps_ && timestamps_->is_time(piece.token);
  if (!generation_.ends_with(piece.token) && !is_time) {
    RUNG_TRY(const std::string part, stream_->add(piece.token));
    piece.text = stops_.add(part);
  }
  if (has_ended()) {
    RUNG_TRY(const std::string rest, stream_->end());
    piece.text += stops_.add(rest);
    piece.text += stops_.end();
  }
  *made_.text += piece.text;
  return {};
}

Result<std::optional<Piece>> TextGeneration::next() {
  if (has_ended()) return std::nullopt;
  RUNG_TRY(const std::optional<int64_t> token, generation_.next());
  if (!token) return std::nullopt;
  if (made_.tokens.empty())
    made_.prefill_ms += generation_.token_ms();
  else
    ms_.push_back(generation_.token_ms());
  made_.tokens.push_back(*token);
  Piece piece{.token = *token, .text = {}};
  RUNG_CHECK(add_text(piece));
  return std::optional(std::move(piece));
}

Result<Generated> TextGeneration::made() {
  if (!ms_.empty()) {
    const Summary times = summarize(ms_);
    made_.decode_ms = {times.median, times.p90, times.p99};
    made_.tokens_per_s = 1e3 * static_cast<double>(ms_.size()) / std::accumulate(ms_.begin(), ms_.end(), 0.0);
  }
  if (timestamps_) {
    RUNG_TRY(made_.segments, segments_of(made_.tokens, *timestamps_, tokenizer_ ? &*tokenizer_ : nullptr));
  }
  made_.stopped_by = stops_.found() ? "stop string" : generation_.end() ? name_of(*generation_.end()) : "";
  made_.drafting = generation_.speculation().outcome();
  made_.drafted = generation_.speculation().drafted();
  made_.accepted = generation_.accepted();
  made_.weight_bytes = generation_.decoder().weight_bytes() + generation_.speculation().weight_bytes();
  const Plan& step = generation_.decoder().plan_of_one();
  made_.bytes_per_token = bytes_per_token(step, generation_.decoder().length());
  if (const double gbps = read_gbps(step); gbps > 0) made_.floor_ms = made_.bytes_per_token / gbps * 1e-6;
  return made_;
}

nlohmann::json to_json(const Generated& made) {
  const auto& decode = made.decode_ms;
  nlohmann::json json{{"tokens", made.tokens},
                      {"prompt_tokens", made.prompt_tokens},
                      {"prefill_ms", made.prefill_ms},
                      {"decode_ms", {{"median", decode.median}, {"p90", decode.p90}, {"p99", decode.p99}}},
                      {"tokens_per_s", made.tokens_per_s},
                      {"drafting", made.drafting},
                      {"drafted", made.drafted},
                      {"accepted", made.accepted},
                      {"bytes_per_token", made.bytes_per_token},
                      {"weight_bytes", made.weight_bytes},
                      {"floor_ms", made.floor_ms},
                      {"stopped_by", made.stopped_by}};
  json["text"] = made.text ? nlohmann::json(*made.text) : nlohmann::json(nullptr);
  if (made.actions) json["actions"] = *made.actions;
  if (made.segments) {
    json["segments"] = nlohmann::json::array();
    for (const Segment& segment : *made.segments) json["segments"].push_back(to_json(segment));
  }
  return json;
}

}  // namespace rung::tasks
