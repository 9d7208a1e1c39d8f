// A text as it is made: one token with its piece of text after another, and what they took.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/interrupted.hpp"
#include "session/generation.hpp"
#include "tasks/model_text.hpp"
#include "tasks/segments.hpp"

namespace rung::tasks {

// Settings of the choice of tokens that the caller gives; the others are the model's own (generation_config.json).
struct SamplingWishes {
  std::optional<double> temperature, top_p, min_p, repetition_penalty;
  std::optional<uint64_t> top_k, seed;
};

struct GenerateOptions {
  int64_t most = 128;  // new tokens
  SamplingWishes sampling;
  std::vector<std::string> stops;           // strings that end the text where they begin
  std::optional<Speculate> speculate = {};  // none: off, or automatic with a draft
  std::shared_ptr<Decoder> draft = {};      // whose guesses are read ahead (check_draft()); null: the text's own
  int64_t draft_tokens = 0;                 // that it guesses at once; 0: a usual number
  bool timestamps = false;                  // the text says when its parts begin and end, as timestamp_rules() tell
  int64_t steps = 16;            // tokens that a GPU makes before it is asked for them; 0: the host chooses each
  Interrupted interrupted = {};  // asked between the runs that read the prompt
};

struct Generated {
  std::vector<int64_t> tokens;      // new ones, with the one that ended the text
  std::optional<std::string> text;  // of the new tokens, without special ones; null: the model has no tokenizer
  int64_t prompt_tokens = 0;
  double prefill_ms = 0;  // from the prompt's tokens, or the source, to the first new one
  struct {
    double median = 0, p90 = 0, p99 = 0;
  } decode_ms;                 // of each further token, its choice included
  double tokens_per_s = 0;     // of the further tokens; 0: there are none
  std::string drafting;        // "off", "kept", or "stopped" where drafts were slower
  int64_t drafted = 0;         // draft tokens that runs read ahead of the text
  int64_t accepted = 0;        // of those, which became the text's
  double bytes_per_token = 0;  // weights and the part of caches that the last token reads
  uint64_t weight_bytes = 0;   // of all chunks' plans, in all layouts, each block once
  double floor_ms = 0;         // the time that memory needs for those bytes; 0: its speed is not known
  // A row for each time, if the caller wants the actions that the tokens stand for.
  std::optional<std::vector<std::vector<double>>> actions;
  std::optional<std::vector<Segment>> segments;  // of a text with timestamps
  std::string stopped_by;  // "count", "stop token", "stop string", "full cache"; empty: it could go on
};
nlohmann::json to_json(const Generated& generated);

struct Piece {
  int64_t token = 0;
  std::string text;  // that is certain now; empty: none, or the model has no tokenizer
};

class TextGeneration {
 public:
  // Reads the prompt behind the decoder's text; an encoder reads the source first, about which a new text begins. A
  // draft reads prompt and source, too. Without a source both have read theirs. Errors: less than one new token, a
  // setting out of its range, speculation without a plan that gives all scores of a chunk, stop strings for a model
  // without a tokenizer (usage); those of Decoder::read() and Decoder::take().
  static Result<TextGeneration> begin(const ModelText& model, std::shared_ptr<Decoder> decoder,
                                      std::span<const int64_t> prompt, const GenerateOptions& options,
                                      const NamedTensors& source = {});

  // Returns the next piece; nullopt: the text has ended. The pieces' texts, joined, are the text. Errors: those of
  // Generation::next().
  Result<std::optional<Piece>> next();
  // Returns what was made so far. Measures the memory's speed when it is first asked for in a process. Errors: those of
  // segments_of().
  Result<Generated> made();

 private:
  TextGeneration(Generation generation, std::optional<TextStream> stream, StopStrings stops)
      : generation_(std::move(generation)), stream_(std::move(stream)), stops_(std::move(stops)) {}
  Status add_text(Piece& piece);
  bool has_ended() const { return stops_.found() || generation_.end(); }

  Generation generation_;
  std::optional<TimestampRules> timestamps_;
  std::optional<Tokenizer> tokenizer_;  // with timestamps, for the text of each part
  std::optional<TextStream> stream_;    // none: the model has no tokenizer
  StopStrings stops_;
  Generated made_;
  std::vector<double> ms_;  // of each token behind the first one
};

}  // namespace rung::tasks
