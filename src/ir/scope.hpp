// Scopes: the names that a person gives to parts of a model, by the labels of their ops.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string_view>

namespace rung {

// Returns the text up to the first dot, and removes it with its dot from `text`.
std::string_view take_word(std::string_view& text);

// A scope is the beginning of a label, in whole words between dots; "*" stands for any one word:
// "step.*.gemma_expert" covers "step.3.gemma_expert.norm".
bool covers(std::string_view scope, std::string_view label);

}  // namespace rung
