// Writes the parts of text encoders that lie around their layers.
// SPDX-License-Identifier: Apache-2.0
#include "import/huggingface/text_model.hpp"

#include "import/huggingface/input_rules.hpp"
#include "import/huggingface/limits.hpp"
#include "import/huggingface/sentence_pooling.hpp"
#include "import/huggingface/text_length.hpp"

namespace rung::huggingface {
namespace {

Result<Shape> tokens_shape(const ConfigSource& source, const TextSizes& sizes) {
  RUNG_TRY(int64_t length, text_length(source.directory, sizes.tokens));
  Shape shape{1, length};
  for (const char* input : {"token_type_ids", "attention_mask", "input_ids"})
    shape = requested_shape(source.options, input, shape);
  auto within = [&](int axis, IntRange bounds) { return shape[axis] >= bounds.min && shape[axis] <= bounds.max; };
  if (shape.rank() == 2 && within(0, kBatchBounds) && within(1, {1, sizes.tokens})) return shape;
  return mismatch("shape {} for input_ids: wanted [B,S] with B from 1 to {}, S from 1 to {} (max_position_embeddings)",
                  shape, kBatchBounds.max, sizes.tokens);
}

}  // namespace

Result<TextInputs> declare_text_inputs(Model& model, const ConfigSource& source, const TextSizes& sizes) {
  RUNG_TRY(Shape shape, tokens_shape(source, sizes));
  const Type ids{DType::i64, shape};
  TextInputs in;
  in.tokens = add_token_input(model, "input_ids", shape, sizes.vocabulary);
  in.mask = add_mask_input(model, "attention_mask", ids, 1);
  if (sizes.segments > 0) in.segments = add_mask_input(model, "token_type_ids", ids, 0, sizes.segments - 1);
  return in;
}

Result<TextModel> open_text_model(const ConfigSource& source, Classes classes, TensorNames names,
                                  const TextSizes& sizes) {
  TextModel text;
  RUNG_TRY(text.sentence, read_sentence_config(source.directory, sizes.width));
  names.probe_shape = {sizes.vocabulary, sizes.width};
  const bool is_sentence = !text.sentence.modes.empty();
  RUNG_TRY(text.frame, ModelFrame::open(source, classes, std::move(names), sizes.dtype, is_sentence));
  RUNG_TRY(text.in, declare_text_inputs(text.frame->model, source, sizes));
  return text;
}

Status check_pairs(const ModelFrame& frame, const TextInputs& in) {
  const int64_t length = frame.model.graph.shape(in.tokens)[1];
  return check_made("a table of pairs of tokens", length, length);
}

NodeId embed(ModelFrame& frame, const Module& table, const Shape& shape, NodeId ids) {
  ModuleBuilder& w = frame.builder;
  return w.op(Gather{.axis = 0}, {w.weight(table.tensor("weight"), shape, frame.dtype()), ids}, table.label);
}

NodeId position_range(ModelFrame& frame, const std::string& label, int64_t length) {
  Tensor ids({DType::i64, {1, length}});
  auto values = ids.as<int64_t>();
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<int64_t>(i);
  return frame.model.graph.literal(label, std::move(ids));
}

NodeId counted_positions(ModelFrame& frame, NodeId tokens, int64_t padding) {
  ModuleBuilder& w = frame.builder;
  const std::string label = "embeddings.position_ids";
  const NodeId offset = w.scalar(static_cast<double>(padding), DType::i64);
  const NodeId is_token = w.binary(BinaryKind::ne, tokens, offset, label);
  const NodeId count = w.op(CumSum{.axis = 1}, {is_token}, label);
  const NodeId counted = w.binary(BinaryKind::mul, count, w.cast(is_token, DType::i64, label), label);
  return w.binary(BinaryKind::add, counted, offset, label);
}

NodeId write_pooler(ModuleBuilder& w, const Module& pooler, NodeId hidden) {
  const NodeId first = w.token(hidden, 0, pooler.label);
  const NodeId x = w.linear(pooler.child("dense"), first, w.graph.shape(hidden).back());
  return w.unary(UnaryKind::tanh, x, pooler.child("activation").label);
}

void write_span(ModelFrame& frame, const Module& layer, NodeId hidden) {
  ModuleBuilder& w = frame.builder;
  const Shape shape = w.graph.shape(hidden);
  const NodeId both = w.linear(layer, hidden, 2);
  for (const int64_t end : {0, 1}) {
    const NodeId column = w.op(Slice{.axis = 2, .begin = end, .end = end + 1}, {both}, layer.label);
    frame.output(end ? "end_logits" : "start_logits", w.reshape(column, {shape[0], shape[1]}, layer.label));
  }
}

NodeId write_decoder(ModelFrame& frame, const Decoder& decoder, const TextConfig& config, NodeId x) {
  const std::string bias = decoder.module + ".bias";
  const bool has_bias = !decoder.bias.empty() && frame.checkpoint().type(bias).has_value();
  const LinearTensors tensors{.weight = frame.decoder_weight(decoder.module + ".weight", config.is_tied),
                              .bias = has_bias ? bias : decoder.bias,
                              .label = decoder.module};
  return frame.builder.linear(tensors, x, config.vocabulary);
}

NodeId write_language_head(ModelFrame& frame, const LanguageHead& head, const TextConfig& config, NodeId hidden) {
  ModuleBuilder& w = frame.builder;
  const NodeId x = w.linear(Module::of(head.dense), hidden, config.layer.width);
  return write_decoder(frame, head.decoder, config,
                       w.layer_norm(Module::of(head.norm), head.activation.write(w, x, head.dense), config.layer.eps));
}

void write_roberta_heads(TextModel& text, const TextConfig& config, NodeId hidden) {
  ModelFrame& frame = *text.frame;
  const Module classifier = Module::of("classifier");
  switch (frame.head()) {
    case Head::sequence:
      return frame.classify(classifier.child("out_proj"), write_pooler(frame.builder, classifier, hidden));
    case Head::token:
      return frame.classify(classifier, hidden);
    case Head::masked_lm:
      return frame.output("logits", write_language_head(frame,
                                                        {.dense = "lm_head.dense",
                                                         .norm = "lm_head.layer_norm",
                                                         .activation = gelu(),
                                                         .decoder = {"lm_head.decoder", "lm_head.bias"}},
                                                        config, hidden));
    case Head::question:
      return write_span(frame, Module::of("qa_outputs"), hidden);
    default:
      return write_encoder_outputs(text, hidden);
  }
}

void write_encoder_outputs(TextModel& text, NodeId hidden) {
  ModelFrame& frame = *text.frame;
  frame.output("last_hidden_state", hidden);
  if (!text.sentence.modes.empty()) {
    frame.output("sentence_embedding", pool_sentence(frame.builder, text.sentence, {hidden, text.in.mask}));
  } else if (const Module pooler = frame.encoder().child("pooler");
             frame.checkpoint().contains(pooler.tensor("dense.weight"))) {
    frame.output("pooler_output", write_pooler(frame.builder, pooler, hidden));
  }
}

}  // namespace rung::huggingface
