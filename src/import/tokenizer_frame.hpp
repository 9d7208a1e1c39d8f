// The tokens that tokenizer.json's post_processor puts around one text.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "import/json_config.hpp"
#include "import/tokenizer.hpp"

namespace rung {

// Errors: a post_processor of another kind than TemplateProcessing, BertProcessing and RobertaProcessing, by its name;
// none, of which versions of the published library make different things; a template that gives the text not once.
Result<Frame> read_frame(const Config& tokenizer);

}  // namespace rung
