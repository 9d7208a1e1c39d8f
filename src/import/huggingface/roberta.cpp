// RoBERTa and XLM-RoBERTa: BERT's encoder with positions that leave out padding, and heads of their own.
// SPDX-License-Identifier: Apache-2.0
#include "import/huggingface/bert_layers.hpp"
#include "import/huggingface/limits.hpp"

namespace rung::huggingface {

Result<Model> import_roberta(const ConfigSource& source, Classes classes) {
  RUNG_TRY(TextConfig config, read_bert_config(source.config));
  ConfigFields fields(source.config);
  const int64_t padding = fields.integer("pad_token_id", {0, config.positions - 2}, 1);
  RUNG_CHECK(fields.status());
  RUNG_TRY(TextModel text,
           open_text_model(source, classes, bert_tensors("roberta", {"lm_head.", "classifier.", "qa_outputs."}),
                           config.sizes(config.positions - padding - 1)));
  const NodeId positions = counted_positions(*text.frame, text.in.tokens, padding);
  write_roberta_heads(text, config, write_bert_encoder(text, config, positions));
  return text.frame->finish();
}

}  // namespace rung::huggingface
