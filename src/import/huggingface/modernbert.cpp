// ModernBERT: norms before each part, rotary positions, a gated MLP, and layers in which a token reads its neighbours.
// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>

#include "import/huggingface/attention.hpp"
#include "import/huggingface/modernbert_config.hpp"
#include "import/huggingface/sentence_pooling.hpp"
#include "import/huggingface/text_model.hpp"

namespace rung::huggingface {
namespace {

// The values that all layers of one kind share.
struct Reach {
  NodeId mask = kNoNode;
  Rotary rotary{};
};

class ModernBertWriter {
 public:
  ModernBertWriter(TextModel& text, const ModernBertConfig& config)
      : text_(text), frame_(*text.frame), w_(frame_.builder), c_(config) {}

  NodeId encode() {
    const Module m = frame_.encoder().child("embeddings");
    NodeId x = embed(frame_, m.child("tok_embeddings"), {c_.vocabulary, c_.layer.width}, text_.in.tokens);
    x = norm(m.child("norm"), x);
    for (int64_t i = 0; i < c_.layer.layers; ++i) x = layer(i, x);
    return norm(frame_.encoder().child("final_norm"), x);
  }

  void write_heads(NodeId hidden) {
    const Module classifier = Module::of("classifier");
    switch (frame_.head()) {
      case Head::sequence:
        return frame_.classify(classifier, prediction(pooled(hidden)));
      case Head::token:
        return frame_.classify(classifier, prediction(hidden));
      case Head::masked_lm:
        return frame_.output("logits", write_decoder(frame_, {"decoder", c_.decoder_bias ? "decoder.bias" : ""}, c_,
                                                     prediction(hidden)));
      case Head::question:
        return write_span(frame_, classifier, prediction(hidden));
      default:
        return write_encoder_outputs(text_, hidden);
    }
  }

 private:
  NodeId norm(const Module& m, NodeId x) { return w_.layer_norm(m, x, c_.layer.eps, c_.norm_bias); }

  NodeId layer(int64_t index, NodeId x) {
    const Module m = frame_.encoder().child(fmt::format("layers.{}", index));
    const NodeId h = index == 0 ? x : norm(m.child("attn_norm"), x);
    x = w_.binary(BinaryKind::add, x, attention(m.child("attn"), h, reach(c_.is_local[static_cast<size_t>(index)])),
                  m.label);
    return w_.binary(BinaryKind::add, x, mlp(m.child("mlp"), norm(m.child("mlp_norm"), x)), m.label);
  }

  const Reach& reach(bool is_local) {
    Reach& known = is_local ? local_ : global_;
    if (known.mask != kNoNode) return known;
    const std::string label = is_local ? "local_rotary" : "global_rotary";
    const NodeId positions = position_range(frame_, label + ".positions", w_.graph.shape(text_.in.tokens)[1]);
    const auto is_near = [this](int64_t i, int64_t j) { return std::abs(i - j) <= c_.window; };
    const DType dtype = frame_.dtype();
    known.mask = is_local ? limited_mask(w_, text_.in.mask, dtype, is_near)
                          : padding_mask(w_, text_.in.mask, dtype, "attention_mask");
    known.rotary = rotary_tables(
        w_, positions, {c_.layer.width / c_.layer.heads, is_local ? c_.local_base : c_.global_base, dtype}, label);
    // The angles' cosines are rounded to the model's type, and applied in f32.
    known.rotary = {w_.cast(known.rotary.cos, DType::f32, label), w_.cast(known.rotary.sin, DType::f32, label)};
    return known;
  }

  NodeId attention(const Module& m, NodeId x, const Reach& reach) {
    const Shape s = w_.graph.shape(x);
    const int64_t width = c_.layer.width, heads = c_.layer.heads;
    NodeId all = w_.linear(m.child("Wqkv"), x, 3 * width, c_.layer.qkv_bias);
    all = w_.reshape(all, {s[0], s[1], 3, heads, width / heads}, m.label);
    const auto third = [&](int64_t i) {
      const NodeId part = w_.op(Slice{.axis = 2, .begin = i, .end = i + 1}, {all}, m.label);
      return w_.swap_axes(w_.reshape(part, {s[0], s[1], heads, width / heads}, m.label), 1, 2, m.label);
    };
    const NodeId q = rotate(w_, third(0), reach.rotary, m.label), k = rotate(w_, third(1), reach.rotary, m.label);
    return w_.linear(m.child("Wo"), attend(w_, {q, k, third(2)}, reach.mask, m.label), width, c_.layer.qkv_bias);
  }

  NodeId mlp(const Module& m, NodeId x) {
    const int64_t size = c_.layer.mlp;
    const NodeId both = w_.linear(m.child("Wi"), x, 2 * size, c_.mlp_bias);
    const NodeId in = w_.op(Slice{.axis = 2, .begin = 0, .end = size}, {both}, m.label);
    const NodeId gate = w_.op(Slice{.axis = 2, .begin = size, .end = 2 * size}, {both}, m.label);
    const NodeId h = w_.binary(BinaryKind::mul, c_.layer.activation.write(w_, in, m.child("act").label), gate, m.label);
    return w_.linear(m.child("Wo"), h, c_.layer.width, c_.mlp_bias);
  }

  NodeId pooled(NodeId hidden) {
    if (!c_.pools_mean) return w_.token(hidden, 0, "pooling");
    return pool_sentence(w_, {.modes = {PoolingMode::mean}}, {hidden, text_.in.mask});
  }

  NodeId prediction(NodeId x) {
    const Module m = Module::of("head");
    const NodeId h = w_.linear(m.child("dense"), x, c_.layer.width, c_.head_bias);
    return norm(m.child("norm"), c_.head_activation.write(w_, h, m.child("act").label));
  }

  TextModel& text_;
  ModelFrame& frame_;
  ModuleBuilder& w_;
  const ModernBertConfig& c_;
  Reach global_, local_;
};

}  // namespace

Result<Model> import_modernbert(const ConfigSource& source, Classes classes) {
  RUNG_TRY(ModernBertConfig config, read_modernbert_config(source.config));
  TensorNames names{.prefix = "model",
                    .probe = "embeddings.tok_embeddings.weight",
                    .probe_shape = {},
                    .layers = "layers",
                    .heads = {"head.", "classifier.", "decoder."},
                    .ignored = {}};
  RUNG_TRY(TextModel text, open_text_model(source, classes, std::move(names), config.sizes(config.positions)));
  RUNG_CHECK(check_pairs(*text.frame, text.in));
  ModernBertWriter writer(text, config);
  writer.write_heads(writer.encode());
  return text.frame->finish();
}

}  // namespace rung::huggingface
