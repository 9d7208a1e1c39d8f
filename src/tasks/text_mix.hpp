// The mix of work of a decoder language model: a prompt of some tokens, and a text of some new ones.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>

#include "ladder/result.hpp"
#include "open/options.hpp"

namespace rung::tasks {

struct TextMix {
  int64_t prompt = 0, made = 0;  // tokens
};

// How the mix is run: the prompt in equal chunks, then the new tokens one by one.
struct MixPhases {
  int64_t chunk = 0, chunks = 0;               // tokens of one, and how many of them
  int64_t chunk_before = 0, token_before = 0;  // tokens of the text before a chunk and before a token, on average
  int64_t cache = 0;                           // the most tokens of the text
};

// Returns the phases of a mix for a model whose options say at most its cache. Errors (usage): a prompt of less than
// two tokens, less than one new one; a model that is no decoder language model, or has fewer positions; a cache that is
// too small, naming the one that is wanted.
Result<MixPhases> phases_of(const OpenOptions& model, const TextMix& mix);
// Returns the options of the plan for a chunk of the prompt, then those of the plan for one token.
std::vector<OpenOptions> options_of(const OpenOptions& model, const MixPhases& phases);

// The time of the mix by the climbs of its two plans, each at the place of its average run.
struct MixTimes {
  TextMix mix;
  MixPhases phases;
  double prefill_ms = 0, decode_ms = 0, total_ms = 0;  // the prompt; a further token; all tokens
  double prefill_floor_ms = 0, decode_floor_ms = 0, floor_ms = 0;
};
MixTimes times_of(const TextMix& mix, const MixPhases& phases, const ClimbResult& chunk, const ClimbResult& token);
nlohmann::json to_json(const MixTimes& times);

}  // namespace rung::tasks
