// Goes through the published steps in both directions: cosine transform, rounding, characters, byte-pair encoding.
// SPDX-License-Identifier: Apache-2.0
#include "text/action_tokenizer.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <numbers>

#include "base/json_config.hpp"
#include "text/unicode.hpp"
#include "text/vocabulary.hpp"

namespace rung {
namespace {

constexpr const char* kProcessorConfig = "processor_config.json";
constexpr IntRange kSizes{1, 4096}, kLeast{-(1 << 20), 1 << 20};
constexpr double kSmallestScale = 1e-9, kLargestScale = 1e9;
constexpr DecodeOptions kUnchanged{.keeps_special = true, .cleans_up = false};
constexpr text::CodePoint kLastCharacter = 0x10ffff, kNotACharacter = 0xfffd;

// Returns the weight of coefficient k in the value at time t, of the orthonormal DCT-II of `size` times and its
// inverse.
double cosine(int64_t k, int64_t t, int64_t size) {
  const auto n = static_cast<double>(size);
  const double angle = std::numbers::pi * (2 * static_cast<double>(t) + 1) * static_cast<double>(k) / (2 * n);
  return std::sqrt((k == 0 ? 1 : 2) / n) * std::cos(angle);
}

// Sums `from` over one axis of the transform, for each of the chunk's columns; both are row by row.
template <class Weight>
std::vector<double> transformed(std::span<const double> from, ActionShape shape, const Weight& weight) {
  std::vector<double> to(from.size());
  const auto dims = static_cast<size_t>(shape.dims);
  for (int64_t row = 0; row < shape.horizon; ++row)
    for (int64_t term = 0; term < shape.horizon; ++term) {
      const double w = weight(row, term);
      for (size_t d = 0; d < dims; ++d)
        to[static_cast<size_t>(row) * dims + d] += w * from[static_cast<size_t>(term) * dims + d];
    }
  return to;
}

std::vector<double> to_coefficients(std::span<const double> actions, ActionShape shape) {
  return transformed(actions, shape, [&](int64_t k, int64_t t) { return cosine(k, t, shape.horizon); });
}

std::vector<double> to_actions(std::span<const double> coefficients, ActionShape shape) {
  return transformed(coefficients, shape, [&](int64_t t, int64_t k) { return cosine(k, t, shape.horizon); });
}

Result<int64_t> size_of(const Config& config, const char* field, int64_t wanted) {
  if (wanted != 0 && (wanted < kSizes.min || wanted > kSizes.max))
    return wrong_usage("{} of actions: got {}, wanted {} to {}", field, wanted, kSizes.min, kSizes.max);
  RUNG_TRY(const int64_t said, config.get_int_or(field, kSizes, 0));
  if (said == 0 && wanted == 0) return mismatch("'{}' has no {}: give it", config.what(), field);
  if (said != 0 && wanted != 0 && said != wanted)
    return mismatch("{} of actions: got {}, and '{}' has {}", field, wanted, config.what(), said);
  return said == 0 ? wanted : said;
}

bool is_character(double value) {
  const bool is_surrogate = value >= 0xd800 && value <= 0xdfff;
  return value <= kLastCharacter && value != kNotACharacter && !is_surrogate;
}

}  // namespace

Result<ActionTokenizer> ActionTokenizer::open(const std::string& directory, ActionShape wanted) {
  RUNG_TRY(const Config config, Config::read((std::filesystem::path(directory) / kProcessorConfig).string()));
  RUNG_TRY(wanted.horizon, size_of(config, "time_horizon", wanted.horizon));
  RUNG_TRY(wanted.dims, size_of(config, "action_dim", wanted.dims));
  RUNG_TRY(Tokenizer tokenizer, Tokenizer::open(directory));
  ActionTokenizer made(std::move(tokenizer), wanted);
  RUNG_TRY(made.scale_, config.get_number_or("scale", kSmallestScale, kLargestScale, 10));
  RUNG_TRY(made.min_token_, config.get_int_or("min_token", kLeast, 0));
  RUNG_TRY(made.vocabulary_, config.get_int_or("vocab_size", {1, text::kTokenIds.max}, 1024));
  return made;
}

// As published, a coefficient below the least one becomes it. Byte-pair encodings leave letters out that they do not
// have, so the tokens are read back.
Result<std::vector<int64_t>> ActionTokenizer::encode(std::span<const double> actions) const {
  if (static_cast<int64_t>(actions.size()) != shape_.count())
    return wrong_usage("got {} values of actions, wanted {} x {}", actions.size(), shape_.horizon, shape_.dims);
  std::string text;
  for (const double coefficient : to_coefficients(actions, shape_)) {
    const double value = std::max(std::nearbyint(coefficient * scale_) - static_cast<double>(min_token_), 0.0);
    if (!std::isfinite(coefficient) || !is_character(value))
      return wrong_usage("actions with the coefficient {}: no character stands for it", coefficient);
    text::append(text, static_cast<text::CodePoint>(value));
  }
  RUNG_TRY(std::vector<int64_t> tokens, tokenizer_.pieces(text));
  RUNG_TRY(const std::string back, tokenizer_.decode(tokens, kUnchanged));
  if (back != text) return wrong_usage("actions with coefficients for which the tokenizer has no token");
  return tokens;
}

// The published code gives zeros where the number of coefficients is wrong; a robot must not take them for actions.
Result<std::vector<int64_t>> ActionTokenizer::coefficients_of(std::span<const int64_t> tokens) const {
  RUNG_TRY(const std::string text, tokenizer_.decode(tokens, kUnchanged));
  std::vector<int64_t> coefficients;
  for (size_t at = 0; at < text.size();) {
    const text::CodePoint character = text::next_character(text, at);
    if (character == kNotACharacter)
      return mismatch("{} action tokens: got bytes that are no character behind {} coefficients", tokens.size(),
                      coefficients.size());
    coefficients.push_back(character + min_token_);
  }
  if (static_cast<int64_t>(coefficients.size()) == shape_.count()) return coefficients;
  return mismatch("{} action tokens: got {} coefficients, wanted {} x {} = {}", tokens.size(), coefficients.size(),
                  shape_.horizon, shape_.dims, shape_.count());
}

Result<std::vector<double>> ActionTokenizer::decode(std::span<const int64_t> tokens) const {
  RUNG_TRY(const std::vector<int64_t> coefficients, coefficients_of(tokens));
  std::vector<double> scaled;
  for (const int64_t coefficient : coefficients) scaled.push_back(static_cast<double>(coefficient) / scale_);
  return to_actions(scaled, shape_);
}

Result<std::vector<double>> ActionTokenizer::decode_policy(std::span<const int64_t> written, PolicyTokens place) const {
  const int64_t last = place.vocabulary - 1 - place.skipped;
  if (place.skipped < 0 || last < vocabulary_ - 1)
    return mismatch("a vocabulary of {} tokens, {} of them skipped, has no room for {} action tokens", place.vocabulary,
                    place.skipped, vocabulary_);
  const auto is_action = [&](int64_t token) { return token <= last && token > last - vocabulary_; };
  const auto first = std::ranges::find_if(written, is_action);
  const auto end = std::find_if_not(first, written.end(), is_action);
  if (first == end)
    return mismatch("got {} tokens and no action token among them, wanted some from {} to {}", written.size(),
                    last - vocabulary_ + 1, last);
  if (const auto more = std::find_if(end, written.end(), is_action); more != written.end())
    return mismatch("token {} is no action token, and token {} is one: wanted all action tokens together",
                    end - written.begin(), more - written.begin());
  std::vector<int64_t> tokens;
  for (auto token = first; token != end; ++token) tokens.push_back(last - *token);
  return decode(tokens);
}

}  // namespace rung
