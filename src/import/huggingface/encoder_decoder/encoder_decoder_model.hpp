// From an encoder-decoder's config to a graph of it.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "import/huggingface/architecture.hpp"
#include "import/huggingface/encoder_decoder/encoder_decoder_config.hpp"

namespace rung::huggingface {

// Returns one of four graphs (import/model.hpp has the parts that a cache asks for):
//   the encoder alone, for a class without a head: the source -> "last_hidden_state" f32[B,E,width]
//   all of it: the source, decoder_input_ids i64[B,S] -> "logits" f32[B,S,V]
//   with a cache, its encoder: the source -> "last_hidden_state", and the states of cross attention
//   with a cache, its decoder: decoder_input_ids i64[1,S], count -> "logits" f32[1,V]
// The source is input_ids i64[B,E] with attention_mask, or with a cache count, or input_features f32[B,mels,frames].
// Errors: a class that is not among `classes`, shapes that the model cannot take, tensors that are missing, misshapen
// or unexpected.
Result<Model> import_encoder_decoder(const ConfigSource& source, Classes classes, const EncoderDecoderConfig& config,
                                     const EncoderDecoderNames& names);

}  // namespace rung::huggingface
