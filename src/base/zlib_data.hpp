// Packs and unpacks zlib data in one call.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

namespace rung {

// Returns false if `packed` is damaged, truncated, or unpacks to more than `most` bytes. It may have gzip's header.
bool inflate_all(std::string_view packed, size_t most, std::string& unpacked);

// Returns the text as zlib data, packed as far as zlib can; the same text gives the same bytes.
std::string deflated(std::string_view text);

}  // namespace rung
