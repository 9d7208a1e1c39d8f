// From a decoder's config to its graph.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "import/huggingface/architecture.hpp"
#include "import/huggingface/decoders/decoder_config.hpp"
#include "import/huggingface/decoders/token_history.hpp"

namespace rung::huggingface {

// The input that has the tokens, and its sequences where nobody asked for a shape.
struct ChunkInput {
  const char* name = "input_ids";
  int64_t batch = 1;
};

// Returns the tokens of one run as the options ask for them. Errors: a shape or a cache that the decoder cannot take.
Result<DecoderChunk> chunk_of(const ConfigSource& source, const DecoderConfig& config, const ChunkInput& input = {});

// Returns the model: input_ids i64[B,S] -> "logits" f32[B,S,V], or "last_hidden_state" f32[B,S,width] for a class
// without a head; with a cache, those of the last real token alone (import/model.hpp). Errors: a class that is not
// among `classes`, shapes that the model cannot take, tensors that are missing, misshapen or unexpected.
Result<Model> import_decoder(const ConfigSource& source, Classes classes, const DecoderConfig& config,
                             const DecoderNames& names);

}  // namespace rung::huggingface
