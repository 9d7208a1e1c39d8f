// Writes embeddings and layers as eager code runs them.
// SPDX-License-Identifier: Apache-2.0
#include "import/huggingface/bert_layers.hpp"

#include "import/huggingface/attention.hpp"

namespace rung::huggingface {

TensorNames bert_tensors(const char* prefix, std::vector<std::string_view> heads) {
  return {
      .prefix = prefix,
      .probe = "embeddings.word_embeddings.weight",
      .probe_shape = {},
      .layers = "encoder",
      .heads = std::move(heads),
      .ignored = {"embeddings.position_ids", "embeddings.token_type_ids", "pooler.dense.weight", "pooler.dense.bias"}};
}

NodeId write_bert_embeddings(TextModel& text, const TextConfig& config, NodeId positions) {
  ModelFrame& frame = *text.frame;
  ModuleBuilder& w = frame.builder;
  const Module m = frame.encoder().child("embeddings");
  const int64_t width = config.layer.width;
  NodeId x = embed(frame, m.child("word_embeddings"), {config.vocabulary, width}, text.in.tokens);
  if (config.segments > 0) {
    const NodeId segments = embed(frame, m.child("token_type_embeddings"), {config.segments, width}, text.in.segments);
    x = w.binary(BinaryKind::add, x, segments, m.label);
  }
  const NodeId places = embed(frame, m.child("position_embeddings"), {config.positions, width}, positions);
  return w.layer_norm(m.child("LayerNorm"), w.binary(BinaryKind::add, x, places, m.label), config.layer.eps);
}

NodeId write_bert_encoder(TextModel& text, const TextConfig& config, NodeId positions) {
  ModelFrame& frame = *text.frame;
  ModuleBuilder& w = frame.builder;
  NodeId x = write_bert_embeddings(text, config, positions);
  const NodeId mask = padding_mask(w, text.in.mask, frame.dtype(), "extended_attention_mask");
  const TransformerLayer layer(w, config.layer, kBertLayer);
  for (int64_t i = 0; i < config.layer.layers; ++i)
    x = layer.post_norm(frame.encoder().child(fmt::format("encoder.layer.{}", i)), x, mask);
  return x;
}

}  // namespace rung::huggingface
