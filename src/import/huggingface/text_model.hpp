// The parts that text encoders share around their layers: inputs, positions and heads.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>

#include "import/huggingface/model_frame.hpp"
#include "import/huggingface/text_config.hpp"

namespace rung::huggingface {

struct TextInputs {
  NodeId tokens = kNoNode, mask = kNoNode;  // i64[B,S]
  NodeId segments = kNoNode;                // of an architecture that has them
};

struct TextModel {
  std::unique_ptr<ModelFrame> frame;
  SentenceConfig sentence;
  TextInputs in;
};

// Opens the weights and declares the inputs. With sentence-transformers' files beside it, only the encoder is read.
Result<TextModel> open_text_model(const ConfigSource& source, Classes classes, TensorNames names,
                                  const TextSizes& sizes);

// Declares input_ids, attention_mask and token_type_ids. Errors: a shape asked for that the model cannot take.
Result<TextInputs> declare_text_inputs(Model& model, const ConfigSource& source, const TextSizes& sizes);

// Checks that a text is short enough for a table of all its pairs of tokens.
Status check_pairs(const ModelFrame& frame, const TextInputs& in);

// Returns the rows of an embedding table for ids, T[B,S,width].
NodeId embed(ModelFrame& frame, const Module& table, const Shape& shape, NodeId ids);
// Returns 0, 1 and so on, i64[1,length].
NodeId position_range(ModelFrame& frame, const std::string& label, int64_t length);
// Returns the ids of positions that are counted from `padding` + 1, where padding itself has the position `padding`.
NodeId counted_positions(ModelFrame& frame, NodeId tokens, int64_t padding);

// ---- heads. `hidden`: T[B,S,width].
// Returns tanh(dense(first token)).
NodeId write_pooler(ModuleBuilder& w, const Module& pooler, NodeId hidden);
// Adds the outputs "start_logits" and "end_logits", the columns of a linear layer of two.
void write_span(ModelFrame& frame, const Module& layer, NodeId hidden);

// A masked language model's decoder, and the name under which its bias is kept where the module has none of its own.
struct Decoder {
  std::string module, bias;  // bias empty: none
};
// Returns the scores of the vocabulary. The decoder's weights are the embedding table unless the config or the
// checkpoint has others.
NodeId write_decoder(ModelFrame& frame, const Decoder& decoder, const TextConfig& config, NodeId x);

// The modules that most masked language models have before their decoder, and the decoder.
struct LanguageHead {
  std::string dense, norm;
  Activation activation;
  Decoder decoder;
};
// Returns decoder(norm(activation(dense(hidden)))).
NodeId write_language_head(ModelFrame& frame, const LanguageHead& head, const TextConfig& config, NodeId hidden);

// Adds the outputs of the model's class as RoBERTa and MPNet have them, for an encoder's result.
void write_roberta_heads(TextModel& text, const TextConfig& config, NodeId hidden);

// Adds what the encoder alone gives: "last_hidden_state", and its sentence embedding or, where the checkpoint has one,
// its pooler's output.
void write_encoder_outputs(TextModel& text, NodeId hidden);

}  // namespace rung::huggingface
