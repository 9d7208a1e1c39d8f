// Texts to model inputs, through the tokenizer that the model brought along.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string_view>

#include "plan/plan.hpp"

namespace rung {

// Inputs for one text: input_ids, attention_mask and token_type_ids as far as the plan has them, padded to its length.
// Errors: the model has no tokenizer, or no input_ids; the plan takes several texts at once.
Result<NamedTensors> inputs_of_text(const Plan& plan, std::string_view text);

}  // namespace rung
