// The names by which a decoder's plans are known: their inputs, their output, and the state that says where they are.
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace rung::decoder_ports {

inline constexpr const char *kTokens = "input_ids", *kDecoderTokens = "decoder_input_ids", *kCount = "count";
inline constexpr const char *kLogits = "logits", *kPosition = "position";

}  // namespace rung::decoder_ports
