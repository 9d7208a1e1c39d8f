// Sampling, by sorting all tokens. Its weights are integers (ir/sampling.hpp), so that every device draws the same
// token.
// SPDX-License-Identifier: Apache-2.0
#include "ir/sampling.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <numeric>

#include "reference/operations.hpp"
#include "reference/values.hpp"

namespace rung::reference {
namespace {

float fused(float a, float b, float c) { return std::fma(a, b, c); }

Result<sampling::Settings> read_settings(const Tensor& tensor) {
  const auto numbers = tensor.as<float>();
  std::array<float, sampling::kSettings> copy;
  std::ranges::copy(numbers, copy.begin());
  const auto settings = std::bit_cast<sampling::Settings>(copy);
  if (sampling::is_valid(settings)) return settings;
  return fail(
      "settings: got [{}], wanted temperature from 0, whole top_k from 0, top_p and min_p from 0 to 1, "
      "repetition above 0, presence, frequency, and 0",
      fmt::join(numbers, ","));
}

// Returns the logits with penalties and bias.
Result<std::vector<float>> read_logits(const Sample& op, const Arguments& arguments,
                                       const sampling::Settings& settings) {
  const auto operand = [&](SampleSlot slot) { return op.slots.find(arguments.operands, slot); };
  const std::vector<double> given = read(*operand(SampleSlot::logits));
  const Tensor *seen = operand(SampleSlot::seen), *bias = operand(SampleSlot::bias);
  const std::vector<int64_t> counts = seen ? read_integers(*seen) : std::vector<int64_t>(given.size());
  std::vector<float> logits;
  for (size_t i = 0; i < given.size(); ++i) {
    float logit = sampling::penalised(static_cast<float>(given[i]), static_cast<float>(counts[i]), settings, fused);
    if (bias) logit += bias->as<float>()[i];
    if (!sampling::is_usable(logit)) return fail("logits: got {} at place {}, wanted numbers or -inf", logit, i);
    logits.push_back(logit);
  }
  if (std::ranges::all_of(logits, [](float logit) { return logit == -HUGE_VALF; }))
    return fail("logits: got {} times -inf, wanted a token that is not banned", logits.size());
  return logits;
}

uint64_t total_of(const std::vector<uint64_t>& weights, const std::vector<size_t>& places) {
  return std::accumulate(places.begin(), places.end(), uint64_t{0},
                         [&](uint64_t total, size_t place) { return total + weights[place]; });
}

// Leaves the first places, as many as have the weight that top_p wants.
void keep_top_p(const sampling::Settings& settings, const std::vector<uint64_t>& weights, std::vector<size_t>& places) {
  const uint64_t needed = sampling::needed_of(settings, total_of(weights, places));
  uint64_t had = 0;
  size_t kept = 0;
  while (had < needed) had += weights[places[kept++]];
  if (settings.top_p < 1) places.resize(kept);
}

}  // namespace

Result<Tensor> compute(const Sample& op, const Arguments& arguments) {
  RUNG_TRY(const sampling::Settings settings, read_settings(*op.slots.find(arguments.operands, SampleSlot::settings)));
  RUNG_TRY(const std::vector<float> logits, read_logits(op, arguments, settings));
  std::vector<size_t> places(logits.size());
  std::iota(places.begin(), places.end(), 0);
  std::ranges::stable_sort(places, [&](size_t a, size_t b) { return logits[a] > logits[b]; });
  const size_t largest = places[0];
  const auto token = [&](size_t place) {
    return write_integers(arguments.result, std::vector{static_cast<int64_t>(place)});
  };
  if (sampling::is_greedy(settings)) return token(largest);

  const float factor = sampling::factor_of(settings);
  std::vector<uint64_t> weights;
  for (float logit : logits) weights.push_back(sampling::weight_of(logit, logits[largest], factor, fused));
  places.resize(static_cast<size_t>(sampling::kept_of(settings, static_cast<int64_t>(places.size()))));
  keep_top_p(settings, weights, places);
  std::erase_if(places, [&](size_t place) { return weights[place] < sampling::least_weight(settings); });

  std::ranges::sort(places);
  const auto draw = op.slots.find(arguments.operands, SampleSlot::draw)->as<int64_t>();
  uint64_t rest = sampling::drawn_of(sampling::random_of(draw[0], draw[1]), total_of(weights, places));
  size_t i = 0;
  while (rest >= weights[places[i]]) rest -= weights[places[i++]];
  return token(places[i]);
}

}  // namespace rung::reference
