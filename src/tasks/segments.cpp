// Cuts a text at its tokens of time.
// SPDX-License-Identifier: Apache-2.0
#include "tasks/segments.hpp"

#include <nlohmann/json.hpp>

namespace rung::tasks {

Result<TimestampRules> timestamp_rules(const GenerationSettings& settings) {
  if (!settings.no_timestamps_token_id.value)
    return mismatch("timestamps: the model's files have no no_timestamps_token_id: its texts say no times");
  if (settings.eos_token_ids.value.empty())
    return mismatch("timestamps: the model's files have no eos_token_id, before which the tokens of words stand");
  return TimestampRules{.none = *settings.no_timestamps_token_id.value,
                        .end = settings.eos_token_ids.value.front(),
                        .latest = settings.max_initial_timestamp_index.value};
}

Result<std::vector<Segment>> segments_of(std::span<const int64_t> tokens, const TimestampRules& rules,
                                         const Tokenizer* tokenizer) {
  std::vector<Segment> segments;
  Segment open;
  for (const int64_t token : tokens) {
    if (token < rules.end) open.tokens.push_back(token);
    if (!rules.is_time(token)) continue;
    const double time = static_cast<double>(token - rules.first()) / kTimesPerSecond;
    if (!open.tokens.empty()) open.end = time, segments.push_back(std::move(open));
    open = {.begin = time};
  }
  if (!open.tokens.empty()) segments.push_back(std::move(open));
  if (!tokenizer) return segments;
  for (Segment& segment : segments) {
    RUNG_TRY(segment.text, tokenizer->decode(segment.tokens));
  }
  return segments;
}

nlohmann::json to_json(const Segment& segment) {
  nlohmann::json json{{"begin", segment.begin}, {"tokens", segment.tokens}};
  json["end"] = segment.end ? nlohmann::json(*segment.end) : nlohmann::json(nullptr);
  json["text"] = segment.text ? nlohmann::json(*segment.text) : nlohmann::json(nullptr);
  return json;
}

}  // namespace rung::tasks
