// The encoder that BERT and RoBERTa share.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "import/huggingface/text_model.hpp"

namespace rung::huggingface {

// The names of such an encoder's tensors, with those of its heads.
TensorNames bert_tensors(const char* prefix, std::vector<std::string_view> heads);

// Returns T[B,S,width]: the sum of words, segments if the architecture has them, and positions, under a norm.
NodeId write_bert_embeddings(TextModel& text, const TextConfig& config, NodeId positions);
// Does the same, with the layers behind it.
NodeId write_bert_encoder(TextModel& text, const TextConfig& config, NodeId positions);

}  // namespace rung::huggingface
