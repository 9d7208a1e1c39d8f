// Runs the op sample as a plan of its own, on the processor.
// SPDX-License-Identifier: Apache-2.0
#include "session/sampler.hpp"

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <cstring>

#include "ir/text.hpp"
#include "plan/build.hpp"

namespace rung {
namespace {

struct NamedSetting {
  std::string_view name;
  float sampling::Settings::*value;
  std::string_view wanted;
};
constexpr NamedSetting kNamedSettings[] = {
    {"temperature", &sampling::Settings::temperature, "a number from 0 on"},
    {"top_k", &sampling::Settings::top_k, "a whole number from 0 on"},
    {"top_p", &sampling::Settings::top_p, "a number from 0 to 1"},
    {"min_p", &sampling::Settings::min_p, "a number from 0 to 1"},
    {"repetition penalty", &sampling::Settings::repetition, "a number above 0"},
    {"presence penalty", &sampling::Settings::presence, "a number"},
    {"frequency penalty", &sampling::Settings::frequency, "a number"},
};

Status check_settings(const sampling::Settings& settings) {
  for (const auto& [name, value, wanted] : kNamedSettings) {
    sampling::Settings alone;
    alone.*value = settings.*value;
    if (!sampling::is_valid(alone)) return wrong_usage("{}: got {}, wanted {}", name, settings.*value, wanted);
  }
  return {};
}

}  // namespace

Status Sampler::check(int64_t vocabulary, const SamplerOptions& options) {
  RUNG_CHECK(check_settings(options.settings));
  for (const auto& [token, bias] : options.bias) {
    if (token < 0 || token >= vocabulary) return wrong_usage("bias of token {}: wanted 0 to {}", token, vocabulary - 1);
    if (std::isnan(bias) || bias == INFINITY) return wrong_usage("bias of token {}: got {}", token, bias);
  }
  for (int64_t token : options.not_first)
    if (token < 0 || token >= vocabulary)
      return wrong_usage("token {} must not come first: wanted 0 to {}", token, vocabulary - 1);
  if (const auto& rules = options.timestamps; rules && (rules->first() >= vocabulary || rules->end > rules->none))
    return wrong_usage("timestamps: got token {} for the end of a text and {} for times, wanted rising ones below {}",
                       rules->end, rules->first(), vocabulary);
  return {};
}

Tensor bias_of(int64_t vocabulary, const SamplerOptions& options) {
  Tensor bias({DType::f32, {vocabulary}});
  for (const auto& [token, value] : options.bias) bias.as<float>()[static_cast<size_t>(token)] += value;
  return bias;
}

namespace {

Result<Session> open_session_of(int64_t vocabulary) {
  const std::string text = fmt::format(
      "result = sample(logits:f32[1,{0}], settings:f32[{1}], draw:i64[2], bias:f32[{0}], seen:i64[{0}], "
      "slots=bias+seen)",
      vocabulary, sampling::kSettings);
  RUNG_TRY(const Graph graph, parse_graph(text));
  RUNG_TRY(Built built, build_plan(graph, Recipe{.capture = true, .threads = 1}));
  return Session::create(std::make_shared<Plan>(std::move(built.plan)), std::make_shared<cpu::Team>(1));
}

}  // namespace

Result<Sampler> Sampler::make(int64_t vocabulary, const SamplerOptions& options) {
  RUNG_CHECK(check(vocabulary, options));
  const auto settings = std::bit_cast<std::array<float, sampling::kSettings>>(options.settings);
  NamedTensors given{{"settings", Tensor::of<float>({sampling::kSettings}, {settings.begin(), settings.end()})},
                     {"draw", Tensor::of<int64_t>({2}, {options.seed, 0})},
                     {"bias", bias_of(vocabulary, options)},
                     {"seen", Tensor({DType::i64, {vocabulary}})}};
  for (int64_t token : options.not_first) given.at("bias").as<float>()[static_cast<size_t>(token)] = -INFINITY;
  RUNG_TRY(Session session, open_session_of(vocabulary));
  return Sampler(options, std::move(session), std::move(given));
}

void Sampler::count(std::span<const int64_t> tokens, int64_t times) {
  const auto seen = given_.at("seen").as<int64_t>();
  for (int64_t token : tokens) seen[static_cast<size_t>(token)] += times;
}

void Sampler::saw(std::span<const int64_t> tokens) { count(tokens, 1); }

// Returns the scores with -inf for tokens that the rules ban. These judge scores with penalties and bias.
Tensor Sampler::by_rules(const Tensor& logits, std::span<const int64_t> made) const {
  const auto fma = [](float a, float b, float c) { return std::fma(a, b, c); };
  const auto bias = given_.at("bias").as<float>();
  Tensor scores(logits.type()), judged(logits.type());
  std::memcpy(scores.data(), logits.data(), logits.bytes());
  const auto to = judged.as<float>(), kept = scores.as<float>();
  for (size_t i = 0; i < to.size(); ++i)
    to[i] = sampling::penalised(kept[i], static_cast<float>(seen()[i]), options_.settings, fma) + bias[i];
  keep_allowed(*options_.timestamps, made, to);
  for (size_t i = 0; i < to.size(); ++i)
    if (to[i] == -INFINITY) kept[i] = -INFINITY;
  return scores;
}

Result<int64_t> Sampler::choose(const Tensor& logits, std::span<const int64_t> made, int64_t draw) {
  given_.at("draw").as<int64_t>()[1] = draw;
  given_.insert_or_assign("logits", options_.timestamps ? by_rules(logits, made) : logits);
  RUNG_TRY(auto outputs, session_.infer(given_));
  return outputs[0].second.as<int64_t>()[0];
}

Result<int64_t> Sampler::next(const Tensor& logits) {
  RUNG_TRY(const int64_t token, choose(logits, made_, drawn()));
  chose(token);
  return token;
}

// Tokens that are banned as the first choice stay banned until there is one.
Result<int64_t> Sampler::guess(const Tensor& logits, std::span<const int64_t> chosen) {
  std::vector<int64_t> made = made_;
  made.insert(made.end(), chosen.begin(), chosen.end());
  count(chosen, 1);
  auto token = choose(logits, made, static_cast<int64_t>(made.size()));
  count(chosen, -1);
  return token;
}

void Sampler::chose(int64_t token) {
  made_.push_back(token);
  if (made_.size() == 1 && !options_.not_first.empty())
    given_.insert_or_assign("bias", bias_of(static_cast<int64_t>(seen().size()), options_));
  saw({&token, 1});
}

}  // namespace rung
