// DistilBERT: BERT's layers without segments and without a pooler, and heads of their own.
// SPDX-License-Identifier: Apache-2.0
#include "import/huggingface/attention.hpp"
#include "import/huggingface/limits.hpp"
#include "import/huggingface/text_model.hpp"

namespace rung::huggingface {
namespace {

constexpr LayerNames kDistilBertLayer{.attention = "attention",
                                      .query = "q_lin",
                                      .key = "k_lin",
                                      .value = "v_lin",
                                      .out = "attention.out_lin",
                                      .attention_norm = "sa_layer_norm",
                                      .up = "ffn.lin1",
                                      .activation = "ffn.activation",
                                      .down = "ffn.lin2",
                                      .mlp_norm = "output_layer_norm"};

Result<TextConfig> read_distilbert_config(const Config& config) {
  ConfigFields fields(config);
  TextConfig c;
  c.layer.layers = fields.integer("n_layers", kLayerBounds);
  c.layer.width = fields.integer("dim", kWidthBounds);
  c.layer.heads = fields.integer("n_heads", kHeadBounds);
  c.layer.mlp = fields.integer("hidden_dim", kMlpBounds);
  c.layer.activation = read_activation(fields, "activation", "gelu");
  c.vocabulary = fields.integer("vocab_size", kVocabularyBounds);
  c.positions = fields.integer("max_position_embeddings", kTokenBounds);
  c.dtype = read_dtype(fields);
  c.is_tied = fields.flag("tie_word_embeddings", true);
  RUNG_CHECK(check_text_config(fields, c));
  return c;
}

NodeId write_distilbert_encoder(TextModel& text, const TextConfig& config) {
  ModelFrame& frame = *text.frame;
  ModuleBuilder& w = frame.builder;
  const Module m = frame.encoder().child("embeddings"), table = m.child("position_embeddings");
  const int64_t width = config.layer.width, length = w.graph.shape(text.in.tokens)[1];
  const NodeId words = embed(frame, m.child("word_embeddings"), {config.vocabulary, width}, text.in.tokens);
  const NodeId positions = position_range(frame, table.child("position_ids").label, length);
  const NodeId places = embed(frame, table, {config.positions, width}, positions);
  NodeId x = w.binary(BinaryKind::add, words, places, m.label);
  x = w.layer_norm(m.child("LayerNorm"), x, config.layer.eps);
  const NodeId mask = padding_mask(w, text.in.mask, frame.dtype(), "attention_mask");
  const TransformerLayer layer(w, config.layer, kDistilBertLayer);
  for (int64_t i = 0; i < config.layer.layers; ++i)
    x = layer.post_norm(frame.encoder().child(fmt::format("transformer.layer.{}", i)), x, mask);
  return x;
}

void write_distilbert_heads(TextModel& text, const TextConfig& config, NodeId hidden) {
  ModelFrame& frame = *text.frame;
  ModuleBuilder& w = frame.builder;
  const Module classifier = Module::of("classifier"), before = Module::of("pre_classifier");
  switch (frame.head()) {
    case Head::sequence: {
      const NodeId x = w.linear(before, w.token(hidden, 0, before.label), config.layer.width);
      return frame.classify(classifier, w.unary(UnaryKind::relu, x, before.label));
    }
    case Head::token:
      return frame.classify(classifier, hidden);
    case Head::masked_lm:
      return frame.output("logits", write_language_head(frame,
                                                        {.dense = "vocab_transform",
                                                         .norm = "vocab_layer_norm",
                                                         .activation = config.layer.activation,
                                                         .decoder = {"vocab_projector", "vocab_projector.bias"}},
                                                        config, hidden));
    case Head::question:
      return write_span(frame, Module::of("qa_outputs"), hidden);
    default:
      return write_encoder_outputs(text, hidden);
  }
}

}  // namespace

Result<Model> import_distilbert(const ConfigSource& source, Classes classes) {
  RUNG_TRY(TextConfig config, read_distilbert_config(source.config));
  TensorNames names{.prefix = "distilbert",
                    .probe = "embeddings.word_embeddings.weight",
                    .probe_shape = {},
                    .layers = "transformer",
                    .heads = {"vocab_transform.", "vocab_layer_norm.", "vocab_projector.", "classifier.",
                              "pre_classifier.", "qa_outputs."},
                    .ignored = {"embeddings.position_ids"}};
  RUNG_TRY(TextModel text, open_text_model(source, classes, std::move(names), config.sizes(config.positions)));
  write_distilbert_heads(text, config, write_distilbert_encoder(text, config));
  return text.frame->finish();
}

}  // namespace rung::huggingface
