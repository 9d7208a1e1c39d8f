// From a decoder's config to its graph.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "import/huggingface/architecture.hpp"
#include "import/huggingface/decoders/decoder_config.hpp"

namespace rung::huggingface {

// Returns the model: input_ids i64[B,S] -> "logits" f32[B,S,V], or "last_hidden_state" f32[B,S,width] for a class
// without a head; with a cache, those of the last real token alone (import/model.hpp). Errors: a class that is not
// among `classes`, shapes that the model cannot take, tensors that are missing, misshapen or unexpected.
Result<Model> import_decoder(const ConfigSource& source, Classes classes, const DecoderConfig& config,
                             const DecoderNames& names);

}  // namespace rung::huggingface
