// Texts to model inputs, through the tokenizer that the model brought along.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string_view>

#include "plan/plan.hpp"

namespace rung {

// Inputs for one text: input_ids, attention_mask and token_type_ids as far as the plan has them, padded to its length.
// Errors: the model has no tokenizer, or no input_ids; an input that is not i64[1,length]; one that is frozen at
// another value than the text's, which names it: its answer would be that of another question.
Result<NamedTensors> inputs_of_text(const Plan& plan, std::string_view text);

}  // namespace rung
