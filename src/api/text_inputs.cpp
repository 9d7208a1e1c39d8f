// Tokenizes a text for a plan of static length.
// SPDX-License-Identifier: Apache-2.0
#include "api/text_inputs.hpp"

#include <algorithm>

#include "import/tokenizer.hpp"

namespace rung {
namespace {

const PlanInput* input_named(const Plan& plan, std::string_view name) {
  auto it = std::find_if(plan.inputs.begin(), plan.inputs.end(), [&](const auto& input) { return input.name == name; });
  return it == plan.inputs.end() ? nullptr : &*it;
}

}  // namespace

Result<NamedTensors> inputs_of_text(const Plan& plan, std::string_view text) {
  const auto* ids = input_named(plan, "input_ids");
  if (!ids || plan.attachments.empty()) return fail("the model has no tokenizer of its own, or no input 'input_ids'");
  if (const Shape& shape = ids->type.shape; shape.rank() != 2 || shape[0] != 1)
    return fail("a text wants a plan of one row of tokens, [1,S]; this plan's input_ids are {}: give it arrays instead",
                shape);
  RUNG_TRY(Tokenizer tokenizer, Tokenizer::from_texts(plan.attachments));
  int64_t length = ids->type.shape.back();
  RUNG_TRY(Encoding encoding, tokenizer.encode(text, {.max_length = length, .pad_to = length}));
  NamedTensors inputs;
  for (const auto& [name, values] :
       {std::pair{"input_ids", &encoding.ids}, std::pair{"attention_mask", &encoding.attention_mask},
        std::pair{"token_type_ids", &encoding.token_type_ids}})
    if (const auto* input = input_named(plan, name)) inputs[name] = Tensor::of<int64_t>(input->type.shape, *values);
  return inputs;
}

}  // namespace rung
