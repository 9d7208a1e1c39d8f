// Tokenizes a text for a plan of static length.
// SPDX-License-Identifier: Apache-2.0
#include "api/text_inputs.hpp"

#include "plan/named.hpp"
#include "session/session.hpp"

namespace rung {
namespace {

// Adds the text's values for one input, if the plan has that input.
Status add_input(const Plan& plan, const std::string& name, const std::vector<int64_t>& values, NamedTensors& inputs) {
  const auto* input = find_named(plan.inputs, name);
  const auto* frozen = find_named(plan.frozen, name);
  if (!input && !frozen) return {};
  const Type& type = input ? input->type : frozen->value.type();
  const Type text_type{DType::i64, {1, static_cast<int64_t>(values.size())}};
  if (!(type == text_type))
    return mismatch("input '{}': the plan wants {}, and a text of {} tokens is {}: give it arrays instead", name, type,
                    values.size(), text_type);
  Tensor tensor = Tensor::of<int64_t>(type.shape, values);
  if (frozen) RUNG_CHECK(check_frozen_input(*frozen, tensor));
  if (input) inputs[name] = std::move(tensor);
  return {};
}

// Returns the number of tokens that the plan reads.
int64_t text_length(const Plan& plan) {
  const Shape& shape = find_named(plan.inputs, "input_ids")->type.shape;
  return shape.rank() > 0 ? shape.back() : 1;
}

}  // namespace

std::string cut_text_words(int64_t tokens, int64_t kept) {
  return fmt::format(
      "the text has {} tokens, and the plan reads {} of them: open or build it for longer texts (shape "
      "input_ids=1,{})",
      tokens, kept, tokens);
}

Result<const Tokenizer*> TextEncoder::tokenizer() const {
  if (made_in_.another_process())
    return wrong_usage("this model was opened before this process was forked: open it in the child");
  const std::lock_guard lock(reading_);
  if (!tokenizer_) tokenizer_ = Tokenizer::from_texts(plans_.first().attachments);
  if (!*tokenizer_) return tl::unexpected(tokenizer_->error());
  return &**tokenizer_;
}

const Plan& TextEncoder::plan_for(int64_t tokens) const {
  const Plan* best = nullptr;
  for (const auto& plan : plans_) {
    const int64_t now = best ? text_length(*best) : -1, other = text_length(*plan);
    const bool is_better = now < tokens ? other > now : tokens <= other && other < now;
    if (!best || is_better) best = plan.get();
  }
  return *best;
}

Result<std::string> TextEncoder::text_of(std::span<const int64_t> ids, DecodeOptions options) const {
  if (plans_.first().attachments.empty()) return mismatch("the model has no tokenizer of its own");
  RUNG_TRY(const Tokenizer* tokenizer, this->tokenizer());
  return tokenizer->decode(ids, options);
}

Result<TextInputs> TextEncoder::inputs_of(const TextOptions& options) const {
  if (!find_named(plans_.first().inputs, "input_ids") || plans_.first().attachments.empty())
    return mismatch("the model has no tokenizer of its own, or no input 'input_ids'");
  RUNG_TRY(const Tokenizer* tokenizer, this->tokenizer());
  const auto encode = [&](const Plan& plan) {
    const int64_t length = text_length(plan);
    const EncodeOptions limits{.max_length = length, .pad_to = length};
    return options.second ? tokenizer->encode(TextPair{options.text, *options.second}, limits)
                          : tokenizer->encode(options.text, limits);
  };
  RUNG_TRY(Encoding encoding, encode(plans_.first()));
  const Plan& plan = plan_for(encoding.tokens);
  if (&plan != &plans_.first()) {
    RUNG_TRY(encoding, encode(plan));
  }
  if (encoding.truncated() && !options.may_cut) return mismatch("{}", cut_text_words(encoding.tokens, encoding.kept));
  TextInputs text{.inputs = {}, .tokens = encoding.tokens, .kept = encoding.kept};
  RUNG_CHECK(add_input(plan, "input_ids", encoding.ids, text.inputs));
  RUNG_CHECK(add_input(plan, "attention_mask", encoding.attention_mask, text.inputs));
  RUNG_CHECK(add_input(plan, "token_type_ids", encoding.token_type_ids, text.inputs));
  return text;
}

}  // namespace rung
