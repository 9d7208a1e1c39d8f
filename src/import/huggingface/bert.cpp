// BERT encoders, as eager code runs them, with the heads of their classes or sentence-transformers' pooling on top.
// SPDX-License-Identifier: Apache-2.0
#include "import/huggingface/bert_layers.hpp"

namespace rung::huggingface {
namespace {

class BertHeads {
 public:
  BertHeads(TextModel& text, const TextConfig& config) : text_(text), frame_(*text.frame), c_(config) {}

  void write(NodeId hidden) {
    switch (frame_.head()) {
      case Head::sequence:
        return frame_.classify(Module::of("classifier"), pooled(hidden));
      case Head::token:
        return frame_.classify(Module::of("classifier"), hidden);
      case Head::masked_lm:
        return frame_.output("logits", vocabulary_scores(hidden));
      case Head::question:
        return write_span(frame_, Module::of("qa_outputs"), hidden);
      case Head::next_sentence:
        return frame_.output("logits", order_scores(hidden));
      case Head::pretraining:
        frame_.output("prediction_logits", vocabulary_scores(hidden));
        return frame_.output("seq_relationship_logits", order_scores(hidden));
      default:
        return write_encoder_outputs(text_, hidden);
    }
  }

 private:
  NodeId pooled(NodeId hidden) { return write_pooler(frame_.builder, frame_.encoder().child("pooler"), hidden); }
  // Whether the second sentence follows the first, and whether not.
  NodeId order_scores(NodeId hidden) {
    return frame_.builder.linear(Module::of("cls.seq_relationship"), pooled(hidden), 2);
  }
  NodeId vocabulary_scores(NodeId hidden) {
    const std::string m = "cls.predictions";
    return write_language_head(frame_,
                               {.dense = m + ".transform.dense",
                                .norm = m + ".transform.LayerNorm",
                                .activation = c_.layer.activation,
                                .decoder = {m + ".decoder", m + ".bias"}},
                               c_, hidden);
  }

  TextModel& text_;
  ModelFrame& frame_;
  const TextConfig& c_;
};

}  // namespace

Result<Model> import_bert(const ConfigSource& source, Classes classes) {
  RUNG_TRY(TextConfig config, read_bert_config(source.config));
  RUNG_TRY(TextModel text,
           open_text_model(source, classes, bert_tensors("bert", {"cls.", "classifier.", "qa_outputs."}),
                           config.sizes(config.positions)));
  const int64_t length = text.frame->model.graph.shape(text.in.tokens)[1];
  const NodeId positions = position_range(*text.frame, "embeddings.position_embeddings.position_ids", length);
  BertHeads(text, config).write(write_bert_encoder(text, config, positions));
  return text.frame->finish();
}

}  // namespace rung::huggingface
