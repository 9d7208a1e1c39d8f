// BERT encoders, as transformers' BertModel runs them in eager mode, with sentence-transformers' pooling on top.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "import/huggingface/architecture.hpp"
#include "import/huggingface/bert_config.hpp"
#include "import/huggingface/bert_head.hpp"
#include "import/huggingface/input_rules.hpp"
#include "import/huggingface/limits.hpp"
#include "import/huggingface/module_builder.hpp"
#include "import/huggingface/sentence_pooling.hpp"
#include "import/huggingface/text_length.hpp"

namespace rung::huggingface {
namespace {

struct BertInputs {
  NodeId tokens, mask, segments;
};

class BertWriter {
 public:
  BertWriter(ModuleBuilder& writer, const BertConfig& config, DType dtype)
      : w_(writer), graph_(writer.graph), c_(config), dtype_(dtype) {}

  NodeId embeddings(const Module& m, const BertInputs& in) {
    NodeId x = table(m.child("word_embeddings"), c_.vocabulary, in.tokens);
    x = w_.binary(BinaryKind::add, x, table(m.child("token_type_embeddings"), c_.segments, in.segments), m.label);
    x = w_.binary(BinaryKind::add, x, table(m.child("position_embeddings"), c_.positions, position_ids(m, in)),
                  m.label);
    return w_.layer_norm(m.child("LayerNorm"), x, c_.eps);
  }

  // Returns (1 - mask) * lowest, which is added to the scores, so that padding gets no weight.
  NodeId extended_mask(NodeId mask, const std::string& label) {
    const Shape rows = graph_.shape(mask);
    NodeId x = w_.cast(w_.reshape(mask, {rows[0], 1, 1, rows[1]}, label), dtype_, label);
    x = w_.binary(BinaryKind::sub, w_.scalar(1.0, dtype_), x, label);
    return w_.binary(BinaryKind::mul, x, w_.scalar(lowest(), dtype_), label);
  }

  NodeId layer(const Module& m, NodeId x, NodeId mask) {
    NodeId attended = self_attention(m.child("attention.self"), x, mask);
    x = residual_block(m.child("attention.output"), attended, x);
    Module intermediate = m.child("intermediate");
    NodeId h = w_.linear(intermediate.child("dense"), x, c_.mlp);
    h = w_.unary(c_.activation, h, intermediate.child("intermediate_act_fn").label);
    return residual_block(m.child("output"), h, x);
  }

  NodeId pooler(const Module& m, NodeId hidden) {
    NodeId first = w_.op(Slice{.axis = 1, .begin = 0, .end = 1}, {hidden}, m.label);
    NodeId flat = w_.reshape(first, {graph_.shape(hidden)[0], c_.width}, m.label);
    NodeId x = w_.linear(m.child("dense"), flat, c_.width);
    return w_.unary(UnaryKind::tanh, x, m.child("activation").label);
  }

 private:
  double lowest() const {
    if (dtype_ == DType::f16) return -65504.0;
    return dtype_ == DType::bf16 ? -0x1.fep127 : static_cast<double>(-std::numeric_limits<float>::max());
  }

  NodeId table(const Module& m, int64_t rows, NodeId ids) {
    return w_.op(Gather{.axis = 0}, {w_.weight(m.tensor("weight"), {rows, c_.width}, dtype_), ids}, m.label);
  }

  // Returns ids that are the same for every row of the batch.
  NodeId position_ids(const Module& m, const BertInputs& in) {
    Tensor ids({DType::i64, {1, graph_.shape(in.tokens)[1]}});
    auto values = ids.as<int64_t>();
    for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<int64_t>(i);
    return graph_.literal(m.child("position_ids").label, std::move(ids));
  }

  NodeId self_attention(const Module& m, NodeId x, NodeId mask) {
    NodeId q = w_.split_heads(w_.linear(m.child("query"), x, c_.width), c_.heads, m.label);
    NodeId k = w_.split_heads(w_.linear(m.child("key"), x, c_.width), c_.heads, m.label);
    NodeId v = w_.split_heads(w_.linear(m.child("value"), x, c_.width), c_.heads, m.label);
    NodeId scores = w_.op(MatMul{}, {q, w_.swap_axes(k, 2, 3, m.label)}, m.label);
    const int64_t head_width = c_.width / c_.heads;
    scores = w_.scale(scores, 1.0 / std::sqrt(static_cast<double>(head_width)), m.label);
    scores = w_.binary(BinaryKind::add, scores, mask, m.label);
    NodeId weights = w_.op(Softmax{}, {scores}, m.label);
    return w_.merge_heads(w_.op(MatMul{}, {weights, v}, m.label), m.label);
  }

  NodeId residual_block(const Module& m, NodeId x, NodeId residual) {
    NodeId h = w_.linear(m.child("dense"), x, c_.width);
    return w_.layer_norm(m.child("LayerNorm"), w_.binary(BinaryKind::add, h, residual, m.label), c_.eps);
  }

  ModuleBuilder& w_;
  Graph& graph_;
  const BertConfig& c_;
  DType dtype_;
};

Result<Shape> tokens_shape(const ConfigSource& source, int64_t most) {
  RUNG_TRY(int64_t length, text_length(source.directory, most));
  Shape shape{1, length};
  for (const char* input : {"token_type_ids", "attention_mask", "input_ids"})
    shape = requested_shape(source.options, input, shape);
  auto within = [&](int axis, IntRange bounds) { return shape[axis] >= bounds.min && shape[axis] <= bounds.max; };
  if (shape.rank() == 2 && within(0, kBatchBounds) && within(1, {1, most})) return shape;
  return mismatch("shape {} for input_ids: wanted [B,S] with B from 1 to {}, S from 1 to {} (max_position_embeddings)",
                  shape, kBatchBounds.max, most);
}

BertInputs declare_inputs(Model& model, const BertConfig& c, const Shape& shape) {
  Type ids{DType::i64, shape};
  return {add_token_input(model, "input_ids", shape, c.vocabulary), add_mask_input(model, "attention_mask", ids, 1),
          add_mask_input(model, "token_type_ids", ids, 0, c.segments - 1)};
}

// Returns whether a tensor is a buffer that is no weight, or of the pooler that no output reads.
bool may_ignore(const std::string& name, const std::string& root) {
  return name.ends_with("embeddings.position_ids") || name.ends_with("embeddings.token_type_ids") ||
         name.starts_with(root.empty() ? "pooler." : root + ".pooler.");
}

void write_outputs(Model& model, ModuleBuilder& writer, NodeId hidden, NodeId sentence) {
  NodeId out = writer.cast(hidden, DType::f32, "last_hidden_state");
  model.graph.set_output("last_hidden_state", out);
  if (sentence != kNoNode)
    model.graph.set_output("sentence_embedding", writer.cast(sentence, DType::f32, "sentence_embedding"));
}

}  // namespace

bool is_bert(const Config& config) { return config.get_text("model_type").value_or("") == "bert"; }

Result<Model> import_bert(const ConfigSource& source) {
  RUNG_TRY(BertConfig config, read_bert_config(source.config));
  RUNG_TRY(SentenceConfig sentence, read_sentence_config(source.directory, config.width));
  RUNG_TRY(Shape tokens, tokens_shape(source, config.positions));
  RUNG_TRY(auto checkpoint, open_weights(source, config.dtype));

  Model model{.directory = source.directory};
  model.stages = {
      {"embeddings", {"embeddings"}}, {"layers", {"encoder"}}, {"pooling", {"pooling", "normalize", "pooler"}}};
  ModuleBuilder writer(model.graph, *checkpoint);
  const std::string word_table = "embeddings.word_embeddings.weight";
  Module root{checkpoint->contains(word_table) ? "" : checkpoint->contains("bert." + word_table) ? "bert" : "", ""};
  // sentence-transformers runs only the encoder, whatever class the model was saved from.
  const bool is_sentence = !sentence.modes.empty(), drops = source.options.drop_head;
  if (!drops && !is_sentence) RUNG_CHECK(refuse_head(source, *checkpoint, root.tensors));
  DType stored = writer.stored_dtype(root.tensor(word_table), {config.vocabulary, config.width});
  BertWriter bert(writer, config, source.options.dtype.value_or(stored));

  BertInputs in = declare_inputs(model, config, tokens);
  NodeId hidden = bert.embeddings(root.child("embeddings"), in);
  NodeId mask = bert.extended_mask(in.mask, "extended_attention_mask");
  for (int64_t i = 0; i < config.layers; ++i)
    hidden = bert.layer(root.child(fmt::format("encoder.layer.{}", i)), hidden, mask);

  NodeId embedding = sentence.modes.empty() ? kNoNode : pool_sentence(writer, sentence, {hidden, in.mask});
  write_outputs(model, writer, hidden, embedding);
  if (sentence.modes.empty() && checkpoint->contains(root.tensor("pooler.dense.weight")))
    model.graph.set_output("pooler_output",
                           writer.cast(bert.pooler(root.child("pooler"), hidden), DType::f32, "pooler"));
  RUNG_TRY(model.notes, writer.finish([&](const std::string& name) {
    if (may_ignore(name, root.tensors) || (drops && is_of_head(name, root.tensors))) return true;
    return is_sentence && is_of_known_head(name);
  }));
  return model;
}

}  // namespace rung::huggingface
