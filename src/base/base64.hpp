// Base64, in which bytes stand in JSON.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <string_view>

#include "base/status.hpp"

namespace rung {

// Errors: a character that is not of the alphabet; a length that is no multiple of four. `what` names the text.
Result<std::string> decode_base64(std::string_view text, const std::string& what);

std::string encode_base64(std::string_view bytes);

}  // namespace rung
