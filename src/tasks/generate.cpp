// Goes from a prompt in any form to tokens, and from tokens to text, and times what lies between.
// SPDX-License-Identifier: Apache-2.0
#include "tasks/generate.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>

#include "device/cpu/peaks.hpp"
#include "device/cpu/start_team.hpp"
#include "device/gpu/peaks.hpp"
#include "import/huggingface/local_cache.hpp"
#include "measure/clock.hpp"
#include "open/open_model.hpp"
#include "plan/named.hpp"
#include "session/generation.hpp"
#include "tasks/decoder.hpp"
#include "text/chat_template.hpp"
#include "text/generation_settings.hpp"
#include "text/text_stream.hpp"

namespace rung::tasks {
namespace {

constexpr const char *kTokens = "input_ids", *kDecoderTokens = "decoder_input_ids";

const std::vector<int64_t> kChunks{1, 8, 64, 512};  // of a directory

// The files that a model has beside its weights for its tokenizer, and its settings.
struct Companions {
  TextFiles files;
  GenerationSettings settings;
  bool has_encoder = false;
};

// An exported graph is of one token.
bool is_exported(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::is_regular_file(path, ignored);
}

// A plan holds the files, but not config.json, which may name the tokens that end a text, too.
Result<Companions> companions_of(const GenerateTask& task) {
  Companions found;
  const std::string& path = task.model.path;
  if (!is_plan_file(path)) {
    const std::string directory = is_exported(path) ? std::filesystem::path(path).parent_path().string()
                                                    : huggingface::cached_directory(path).value_or(path);
    RUNG_TRY(found.files, tokenizer_texts(directory));
    RUNG_TRY(found.settings, read_generation_settings(directory));
    found.has_encoder = found.settings.is_encoder_decoder.value;
    return found;
  }
  OpenOptions plan = task.model;
  plan.inputs = {};
  RUNG_TRY(Opened opened, open_model(plan));
  found.files = opened.plans->first().attachments;
  RUNG_TRY(found.settings, read_generation_settings(found.files));
  found.has_encoder = std::ranges::any_of(
      *opened.plans, [](const auto& one) { return find_named(one->inputs, kDecoderTokens) != nullptr; });
  return found;
}

// Returns null where the model has no tokenizer that can be read and the task needs none: its prompt is tokens.
Result<std::optional<Tokenizer>> tokenizer_for(const GenerateTask& task, const TextFiles& files) {
  auto read = Tokenizer::from_texts(files);
  if (!read && task.text.empty() && task.chat.empty() && task.stops.empty()) return std::nullopt;
  RUNG_TRY(Tokenizer tokenizer, std::move(read));
  return std::optional(std::move(tokenizer));
}

// All that is given before the first new token.
struct Prompt {
  NamedTensors source;          // what an encoder reads
  std::vector<int64_t> tokens;  // with which the decoder's text begins
};

Result<std::vector<int64_t>> token_values(const std::string& name, const Tensor& tokens) {
  if (tokens.dtype() != DType::i64) return wrong_usage("{}: got {}, wanted i64[1,S]", name, tokens.type());
  const auto values = tokens.as<int64_t>();
  return std::vector<int64_t>(values.begin(), values.end());
}

Result<Prompt> given_arrays_of(const GenerateTask& task, bool has_encoder) {
  RUNG_TRY(NamedTensors arrays, task.model.inputs.read([&](const std::string& name, const Type&) -> Result<bool> {
    if (!has_encoder && name != kTokens) return wrong_usage("got the input '{}', wanted input_ids alone", name);
    return true;
  }));
  Prompt prompt;
  const char* name = has_encoder ? kDecoderTokens : kTokens;
  if (const auto tokens = arrays.extract(name)) {
    RUNG_TRY(prompt.tokens, token_values(name, tokens.mapped()));
  } else if (!has_encoder) {
    return wrong_usage("got inputs without input_ids");
  }
  prompt.source = std::move(arrays);
  return prompt;
}

Status check_prompts(const GenerateTask& task) {
  const int forms = !task.text.empty() + !task.chat.empty() + (task.model.inputs.read != nullptr);
  if (forms == 1) return {};
  return wrong_usage("got {} prompts, wanted one: a text, a chat or the input input_ids", forms);
}

Result<std::vector<int64_t>> tokens_of_text(const GenerateTask& task, const TextFiles& files,
                                            const Tokenizer& tokenizer) {
  if (!task.text.empty()) {
    RUNG_TRY(Encoding encoding, tokenizer.encode(task.text, {.max_length = INT32_MAX}));
    return encoding.ids;
  }
  RUNG_TRY(auto chat_template, ChatTemplate::from_texts(files));
  if (!chat_template) return mismatch("the model has no chat template");
  RUNG_TRY(const std::string prompt, chat_template->render({.messages = task.chat}));
  return tokenizer.pieces(prompt);
}

// A decoder behind an encoder begins with tokens that the model's files name.
Result<std::vector<int64_t>> start_tokens(const GenerationSettings& settings) {
  if (!settings.decoder_start_token_id.value)
    return mismatch(
        "the model's files have no decoder_start_token_id: give decoder_input_ids, with which its text begins");
  std::vector<int64_t> tokens{*settings.decoder_start_token_id.value};
  const auto& forced = settings.forced_decoder_ids.value;
  tokens.insert(tokens.end(), forced.begin(), forced.end());
  return tokens;
}

Result<Prompt> prompt_of(const GenerateTask& task, const Companions& model, const std::optional<Tokenizer>& tokenizer) {
  Prompt prompt;
  if (task.model.inputs.read) {
    RUNG_TRY(prompt, given_arrays_of(task, model.has_encoder));
  } else {
    RUNG_TRY(std::vector<int64_t> tokens, tokens_of_text(task, model.files, *tokenizer));
    if (!model.has_encoder) return Prompt{{}, std::move(tokens)};
    const auto count = static_cast<int64_t>(tokens.size());
    prompt.source.emplace(kTokens, Tensor::of<int64_t>({1, count}, tokens));
  }
  if (model.has_encoder && prompt.tokens.empty()) {
    RUNG_TRY(prompt.tokens, start_tokens(model.settings));
  }
  return prompt;
}

std::vector<std::pair<int64_t, float>> banned(const std::vector<int64_t>& tokens) {
  std::vector<std::pair<int64_t, float>> bias;
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
          .bias = banned(own.suppress_tokens.value),
          .not_first = own.begin_suppress_tokens.value};
}

// Returns the bytes of memory that a step over one more token reads, with a text of that length.
double bytes_per_token(const Plan& plan, int64_t length) {
  double bytes = 0;
  for (const Step& step : plan.steps) {
    const auto* attention = as<Attention>(step.op);
    if (!attention || !attention->has_length()) {
      bytes += step.bytes;
      continue;
    }
    const Operand& keys = step.inputs[attention->first_key()].view;
    const int64_t of_place = keys.shape[2] * keys.shape[3] * static_cast<int64_t>(size_of(keys.dtype));
    bytes += 2.0 * static_cast<double>(std::min(length, keys.shape[1]) * of_place);
  }
  return bytes;
}

double read_gbps(const Plan& plan) {
  if (!plan.target->gpu) {
    auto team = cpu::start_team(plan.recipe.threads);
    return team ? cpu::measure_read_gbps(**team) : 0;
  }
  const auto peaks = gpu::measure_peaks(*plan.target->gpu, plan.target->machine.gpu.preferred_library());
  return peaks ? peaks->read_gbps : 0;
}

double ms_since(int64_t began) { return static_cast<double>(now_ns() - began) * 1e-6; }

// The new text, as far as it is certain, and whoever hears it.
class Voice {
 public:
  static Result<Voice> make(const GenerateTask& task, const std::optional<Tokenizer>& tokenizer) {
    RUNG_TRY(StopStrings stops, StopStrings::make(task.stops));
    if (!tokenizer) return Voice(task, std::nullopt, std::move(stops));
    RUNG_TRY(TextStream stream, tokenizer->stream());
    return Voice(task, std::move(stream), std::move(stops));
  }

  Status say(int64_t token) {
    if (!stream_) return {};
    RUNG_TRY(const std::string piece, stream_->add(token));
    return hear(stops_.add(piece)), Status{};
  }
  Status end() {
    if (!stream_) return {};
    RUNG_TRY(const std::string rest, stream_->end());
    return hear(stops_.add(rest) + stops_.end()), Status{};
  }
  bool has_stopped() const { return stops_.found().has_value(); }
  bool has_listener() const { return listens_; }
  std::optional<std::string> text() const { return stream_ ? std::optional(text_) : std::nullopt; }

 private:
  Voice(const GenerateTask& task, std::optional<TextStream> stream, StopStrings stops)
      : task_(task), stream_(std::move(stream)), stops_(std::move(stops)) {}

  void hear(const std::string& piece) {
    text_ += piece;
    if (!piece.empty() && listens_) listens_ = task_.hear(piece);
  }

  const GenerateTask& task_;
  std::optional<TextStream> stream_;
  StopStrings stops_;
  std::string text_;
  bool listens_ = true;
};

std::string reason_of(const Voice& voice, const Generation& generation) {
  if (voice.has_stopped()) return "stop string";
  return voice.has_listener() ? std::string(name_of(generation.stopped_by())) : "listener";
}

// Runs the loop; the text goes out after the time of each token is taken.
Status loop(const GenerateTask& task, Generation& generation, Voice& voice, Generated& made) {
  std::vector<double> ms;
  for (int64_t began = now_ns();; began = now_ns()) {
    RUNG_TRY(const std::optional<int64_t> token, generation.next(task.most));
    if (!token) break;
    if (made.tokens.empty())
      made.prefill_ms += ms_since(began);
    else
      ms.push_back(ms_since(began));
    made.tokens.push_back(*token);
    if (task.interrupted()) return was_interrupted("interrupted after {} tokens", made.tokens.size());
    if (generation.ends_with(*token)) continue;  // its text is no one's
    RUNG_CHECK(voice.say(*token));
    if (voice.has_stopped() || !voice.has_listener()) break;
  }
  if (ms.empty()) return {};
  const Summary times = summarize(ms);
  made.decode_ms = {times.median, times.p90, times.p99};
  double all = 0;
  for (double each : ms) all += each;
  made.tokens_per_s = 1e3 * static_cast<double>(ms.size()) / all;
  return {};
}

DecoderTask decoder_task(const GenerateTask& task, const Prompt& prompt, bool has_encoder) {
  DecoderTask open{.model = task.model,
                   .length = task.length,
                   .chunks = is_exported(task.model.path) ? std::vector<int64_t>{1} : kChunks,
                   .has_encoder = has_encoder};
  open.model.inputs = {};
  if (open.length == 0) open.length = static_cast<int64_t>(prompt.tokens.size()) + task.most;
  const auto source = prompt.source.find(kTokens);
  if (source != prompt.source.end() && source->second.shape().rank() == 2) open.source = source->second.shape()[1];
  return open;
}

}  // namespace

Result<Generated> generate(const GenerateTask& task) {
  RUNG_CHECK(check_prompts(task));
  RUNG_TRY(const Companions model, companions_of(task));
  RUNG_TRY(const std::optional<Tokenizer> tokenizer, tokenizer_for(task, model.files));
  RUNG_TRY(const Prompt prompt, prompt_of(task, model, tokenizer));
  RUNG_TRY(Decoder decoder, open_decoder(decoder_task(task, prompt, model.has_encoder)));
  RUNG_TRY(Sampler sampler, Sampler::make(decoder.vocabulary(), sampler_options(task.sampling, model.settings)));
  const auto& ends = model.settings.eos_token_ids.value;
  Generation generation(std::move(decoder), std::move(sampler), {ends.begin(), ends.end()});
  RUNG_TRY(Voice voice, Voice::make(task, tokenizer));
  Generated made{.prompt_tokens = static_cast<int64_t>(prompt.tokens.size())};
  const int64_t began = now_ns();
  if (model.has_encoder) RUNG_CHECK(generation.decoder().read(prompt.source));
  RUNG_CHECK(generation.prompt(prompt.tokens));
  made.prefill_ms = ms_since(began);
  RUNG_CHECK(loop(task, generation, voice, made));
  RUNG_CHECK(voice.end());
  made.text = voice.text();
  made.stopped_by = reason_of(voice, generation);
  const Plan& step = generation.decoder().plan_of_one();
  made.bytes_per_token = bytes_per_token(step, generation.decoder().length());
  if (const double gbps = read_gbps(step); gbps > 0) made.floor_ms = made.bytes_per_token / gbps * 1e-6;
  return made;
}

}  // namespace rung::tasks
