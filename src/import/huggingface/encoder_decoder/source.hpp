// An encoder's source: a text's tokens or the features of sound, as the values that its layers begin with.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "import/huggingface/encoder_decoder/encoder_decoder_config.hpp"
#include "import/huggingface/model_frame.hpp"

namespace rung::huggingface {

struct Source {
  NodeId x = kNoNode;      // T[B,E,width]
  NodeId mask = kNoNode;   // f32[B,1,1,E], added to the scores of keys; none: all places are read
  NodeId count = kNoNode;  // i64[1], the places that are real; none: all are, or the mask says
};

// Returns [B,E] of a text, or [B,mels,frames] of sound. Errors: a shape that the model cannot take.
Result<Shape> source_shape(const ConfigSource& source, const EncoderDecoderConfig& config);
// Returns the number of places E behind the front of the encoder.
int64_t places_of(const Shape& source, const EncoderDecoderConfig& config);

// Declares the inputs and writes what stands before the encoder's layers. With `counts` the places that are real come
// as a number, "count", and else as "attention_mask"; sound has neither.
Source write_source(ModelFrame& frame, const EncoderDecoderConfig& config, const EncoderDecoderNames& names,
                    const Shape& shape, bool counts);

}  // namespace rung::huggingface
