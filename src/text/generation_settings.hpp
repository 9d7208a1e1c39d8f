// How a model wants to be sampled, and the tokens that end its text: generation_config.json and config.json.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/status.hpp"
#include "text/files.hpp"

namespace rung {

// A value with the file that says it, or "default": what the published library takes where no file says anything.
template <class T>
struct Setting {
  T value = {};
  std::string source = "default";
};

struct GenerationSettings {
  Setting<std::vector<int64_t>>
      eos_token_ids;  // in rising order; the text ends with any of them; none: with its length
  Setting<std::optional<int64_t>> bos_token_id, pad_token_id;
  Setting<bool> is_encoder_decoder;  // an encoder reads the text, and a decoder begins one of its own
  Setting<std::optional<int64_t>> decoder_start_token_id;  // with which that text begins
  // By its place in the decoder's text from 1 on; those behind the start are as good as given.
  Setting<std::vector<int64_t>> forced_decoder_ids;
  Setting<std::optional<int64_t>> forced_bos_token_id;                   // behind the start, such as that of a language
  Setting<std::vector<int64_t>> suppress_tokens, begin_suppress_tokens;  // never chosen, or not as the first one
  Setting<std::vector<int64_t>> bad_words_ids;                           // never chosen; each is a word of one token
  // A text may say times (Whisper): these are the token of one that does not, behind which those of times stand, and
  // the last time, by its place among them, at which a text may begin.
  Setting<std::optional<int64_t>> no_timestamps_token_id, max_initial_timestamp_index;
  Setting<bool> do_sample;           // false: the likeliest token is taken
  Setting<double> temperature{1.0};  // logits are divided by it; 0: the likeliest token is taken
  Setting<int64_t> top_k{50};        // this number of the likeliest tokens is kept; 0: all
  Setting<double> top_p{1.0};        // the likeliest tokens are kept that have this probability together
  Setting<double> min_p{0.0};        // tokens are kept whose probability is this part of the likeliest one's
  Setting<double> repetition_penalty{
      1.0};  // logits of tokens that the text has are divided by it, or multiplied below 0
  Setting<std::optional<int64_t>> max_new_tokens, max_length;  // tokens, without and with those of the prompt
};

// Reads generation_config.json, and takes token ids that it does not have from config.json, or from its text_config.
// Either file may be missing. Errors: a value out of its range, or an id beyond the vocabulary of config.json; they
// name the file and the field.
Result<GenerationSettings> read_generation_settings(const std::string& directory);
// Does the same from the files' texts, by file name.
Result<GenerationSettings> read_generation_settings(const TextFiles& texts);

}  // namespace rung
