// Makes a text with a decoder language model, and tells how long it took.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "measure/statistics.hpp"
#include "open/options.hpp"

namespace rung::tasks {

// Settings of the choice of tokens that the caller gives; the others are the model's own (generation_config.json).
struct SamplingWishes {
  std::optional<double> temperature, top_p, min_p, repetition_penalty;
  std::optional<uint64_t> top_k, seed;
};

struct GenerateTask {
  OpenOptions model;   // its input input_ids may be given as the prompt
  std::string text;    // the prompt for the model's tokenizer, used unchanged; empty: none
  std::string chat;    // a list of messages as JSON, which the model's template makes the prompt of; empty: none
  int64_t most = 128;  // new tokens
  int64_t length = 0;  // of a directory: the most tokens of the text; 0: those of the prompt and the new ones
  SamplingWishes sampling;
  std::vector<std::string> stops;  // strings that end the text where they begin
  // Called with each piece of the text as soon as it is certain; false: nobody listens any more, and the text ends.
  std::function<bool(std::string_view)> hear = [](std::string_view) { return true; };
  std::function<bool()> interrupted = [] { return false; };
};

struct Generated {
  std::vector<int64_t> tokens;      // new ones, with the one that ended the text
  std::optional<std::string> text;  // of the new tokens, without special ones; null: the model has no tokenizer
  int64_t prompt_tokens = 0;
  double prefill_ms = 0;  // from the prompt's tokens to the first new one
  struct {
    double median = 0, p90 = 0, p99 = 0;
  } decode_ms;                 // of each further token, its choice included
  double tokens_per_s = 0;     // of the further tokens; 0: there are none
  double bytes_per_token = 0;  // weights and the part of caches that the last token reads
  uint64_t weight_bytes = 0;   // of all chunks' plans, in all layouts, each block once
  double floor_ms = 0;         // the time that memory needs for those bytes; 0: its speed is not known
  std::string stopped_by;      // "count", "stop token", "stop string", "full cache", "listener"
};

// Errors: no prompt or several (usage); those of open_decoder(), of the tokenizer, of the template and of the model's
// settings; a prompt beyond the model's positions, or with tokens that it does not have; scores that are no numbers.
Result<Generated> generate(const GenerateTask& task);

}  // namespace rung::tasks
