// The parts of a text whose tokens say when each of them begins and ends.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "session/timestamp_rules.hpp"
#include "text/generation_settings.hpp"
#include "text/tokenizer.hpp"

namespace rung::tasks {

inline constexpr double kTimesPerSecond = 50;  // tokens of time, in every published model

struct Segment {
  double begin = 0;                      // seconds
  std::optional<double> end = {};        // none: the text ended before it said so
  std::vector<int64_t> tokens;           // of words
  std::optional<std::string> text = {};  // null: the model has no tokenizer
};

// Returns the rules by which a model's texts say times. Errors: its files name no token for texts without times, none
// that ends a text.
Result<TimestampRules> timestamp_rules(const GenerationSettings& settings);

// Returns the parts of a text; each has words. Special tokens are no part's. The tokenizer may be null. Errors: those
// of Tokenizer::decode().
Result<std::vector<Segment>> segments_of(std::span<const int64_t> tokens, const TimestampRules& rules,
                                         const Tokenizer* tokenizer);
nlohmann::json to_json(const Segment& segment);

}  // namespace rung::tasks
