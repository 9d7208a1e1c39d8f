// Tokenizes a text for a plan of static length.
// SPDX-License-Identifier: Apache-2.0
#include "api/text_inputs.hpp"

#include "import/tokenizer.hpp"
#include "plan/named.hpp"
#include "session/session.hpp"

namespace rung {

Result<NamedTensors> inputs_of_text(const Plan& plan, std::string_view text) {
  const auto* ids = find_named(plan.inputs, "input_ids");
  if (!ids || plan.attachments.empty())
    return mismatch("the model has no tokenizer of its own, or no input 'input_ids'");
  const int64_t length = ids->type.shape.rank() > 0 ? ids->type.shape.back() : 1;
  RUNG_TRY(Tokenizer tokenizer, Tokenizer::from_texts(plan.attachments));
  RUNG_TRY(Encoding encoding, tokenizer.encode(text, {.max_length = length, .pad_to = length}));
  NamedTensors inputs;
  for (const auto& [name, values] :
       {std::pair{"input_ids", &encoding.ids}, std::pair{"attention_mask", &encoding.attention_mask},
        std::pair{"token_type_ids", &encoding.token_type_ids}}) {
    const auto* input = find_named(plan.inputs, name);
    const auto* frozen = find_named(plan.frozen, name);
    if (!input && !frozen) continue;
    const Type& type = input ? input->type : frozen->value.type();
    const Type text_type{DType::i64, {1, static_cast<int64_t>(values->size())}};
    if (!(type == text_type))
      return mismatch("input '{}': the plan wants {}, and a text of {} tokens is {}: give it arrays instead", name,
                      type, length, text_type);
    Tensor tensor = Tensor::of<int64_t>(type.shape, *values);
    if (frozen) RUNG_CHECK(check_frozen_input(*frozen, tensor));
    if (input) inputs[name] = std::move(tensor);
  }
  return inputs;
}

}  // namespace rung
