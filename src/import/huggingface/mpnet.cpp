// MPNet: BERT's layers with a bias for the distance between tokens, which all layers share, and RoBERTa's heads.
// SPDX-License-Identifier: Apache-2.0
#include "import/huggingface/attention.hpp"
#include "import/huggingface/bert_layers.hpp"
#include "import/huggingface/encoder_decoder/relative_bias.hpp"
#include "import/huggingface/limits.hpp"

namespace rung::huggingface {
namespace {

// The published code has these fixed, whatever config.json says.
constexpr int64_t kPadding = 1;
constexpr RelativePositions kDistances{.buckets = 32, .farthest = 128};

constexpr LayerNames kMpnetLayer{.attention = "attention.attn",
                                 .query = "q",
                                 .key = "k",
                                 .value = "v",
                                 .out = "attention.attn.o",
                                 .attention_norm = "attention.LayerNorm",
                                 .up = "intermediate.dense",
                                 .activation = "intermediate.intermediate_act_fn",
                                 .down = "output.dense",
                                 .mlp_norm = "output.LayerNorm"};

// Returns T[1,heads,S,S].
NodeId distance_bias(ModelFrame& frame, const TextConfig& config, int64_t buckets, int64_t length) {
  ModuleBuilder& w = frame.builder;
  const Module table = frame.encoder().child("encoder.relative_attention_bias");
  Tensor places({DType::i64, {length, length}});
  for (int64_t i = 0; i < length; ++i)
    for (int64_t j = 0; j < length; ++j)
      places.as<int64_t>()[static_cast<size_t>(i * length + j)] = kDistances.row_of(i, j);
  const NodeId ids = w.graph.literal(table.child("buckets").label, std::move(places));
  const NodeId values = embed(frame, table, {buckets, config.layer.heads}, ids);
  const NodeId heads_first = w.op(Transpose{{2, 0, 1}}, {values}, table.label);
  return w.reshape(heads_first, {1, config.layer.heads, length, length}, table.label);
}

NodeId write_mpnet_encoder(TextModel& text, const TextConfig& config, int64_t buckets) {
  ModelFrame& frame = *text.frame;
  ModuleBuilder& w = frame.builder;
  NodeId x = write_bert_embeddings(text, config, counted_positions(frame, text.in.tokens, kPadding));
  const NodeId padding = padding_mask(w, text.in.mask, frame.dtype(), "attention_mask");
  const NodeId bias = distance_bias(frame, config, buckets, w.graph.shape(text.in.tokens)[1]);
  const NodeId mask = w.binary(BinaryKind::add, bias, padding, "attention_mask");
  const TransformerLayer layer(w, config.layer, kMpnetLayer);
  for (int64_t i = 0; i < config.layer.layers; ++i)
    x = layer.post_norm(frame.encoder().child(fmt::format("encoder.layer.{}", i)), x, mask);
  return x;
}

}  // namespace

Result<Model> import_mpnet(const ConfigSource& source, Classes classes) {
  RUNG_TRY(TextConfig config, read_mpnet_config(source.config));
  ConfigFields fields(source.config);
  const int64_t buckets =
      fields.integer("relative_attention_num_buckets", {kDistances.buckets, 65536}, kDistances.buckets);
  if (config.positions < kPadding + 2)
    fields.mistake("max_position_embeddings is {}, wanted 3 or more", config.positions);
  RUNG_CHECK(fields.status());
  RUNG_TRY(TextModel text,
           open_text_model(source, classes, bert_tensors("mpnet", {"lm_head.", "classifier.", "qa_outputs."}),
                           config.sizes(config.positions - kPadding - 1)));
  RUNG_CHECK(check_pairs(*text.frame, text.in));
  write_roberta_heads(text, config, write_mpnet_encoder(text, config, buckets));
  return text.frame->finish();
}

}  // namespace rung::huggingface
