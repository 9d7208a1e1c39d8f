// Opens a decoder: a plan file of its chunks, or a directory, for whose chunks, and encoder if it has one, plans are
// built.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <vector>

#include "open/options.hpp"
#include "plan/recipe.hpp"
#include "session/decoder.hpp"

namespace rung::tasks {

struct DecoderTask {
  OpenOptions model;
  // The following are of a directory.
  int64_t length = 0;                // the most tokens of a text
  std::vector<int64_t> chunks = {};  // the sizes of the chunks in which it reads tokens; none: the device's usual ones
  int64_t scored_chunk = 8;          // chunks up to this size give all scores, which speculation needs
  bool has_encoder = false;
  int64_t source = 0;                 // the tokens that an encoder of texts reads
  std::optional<Recipe> recipe = {};  // for all plans; none: the default one
};

// Returns the size of the longest chunk in which the model's device reads a prompt. Longer ones take more memory and
// read weights hardly less often; a GPU has work for all its multiprocessors only in thousands of rows.
int64_t usual_longest_chunk(const OpenOptions& model);

// Errors: those of build_set(), for a plan file those of open_model(), and those of Decoder::create().
Result<PlanSet> decoder_plans(const DecoderTask& task);
Result<Decoder> open_decoder(const DecoderTask& task);

}  // namespace rung::tasks
