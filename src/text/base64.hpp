// Base64, in which SentencePiece's rules stand in JSON.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <string_view>

#include "base/status.hpp"

namespace rung::text {

// Errors: a character that is not of the alphabet; a length that is no multiple of four. `what` names the text.
Result<std::string> decode_base64(std::string_view text, const std::string& what);

}  // namespace rung::text
