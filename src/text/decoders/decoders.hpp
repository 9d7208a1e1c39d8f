// The way back: tokens to a text, as the field "decoder" says.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "base/json_config.hpp"

namespace rung::text {

using Tokens = std::vector<std::string>;
// Changes the tokens; what is left in the end is joined.
using Decoder = std::function<Status(Tokens&)>;

// Reads the decoder, or all of a Sequence in their order; tokens are joined by blanks where the field is missing.
Result<std::vector<Decoder>> read_decoders(const Config& tokenizer);

// Returns a text without the blanks before English marks and endings, such as those in "it 's , ok".
std::string cleaned_up(std::string text);

// Each reads the decoder of its type.
Result<Decoder> read_metaspace_decoder(const Config& part);
Result<Decoder> read_word_piece_decoder(const Config& part);
Result<Decoder> read_ctc_decoder(const Config& part);

}  // namespace rung::text
