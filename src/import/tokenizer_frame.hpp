// The tokens that tokenizer.json's post_processor puts around one text.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "import/json_config.hpp"
#include "import/tokenizer.hpp"

namespace rung {

// Reads the post_processor. Errors: another kind than TemplateProcessing, BertProcessing and RobertaProcessing, by its
// name; none, which versions of the published library interpret differently; a template without the text exactly once.
Result<Frame> read_frame(const Config& tokenizer);

}  // namespace rung
