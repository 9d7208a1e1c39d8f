// Unpacks zlib data in one call.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

namespace rung::trace {

inline constexpr size_t kMostInflated = size_t{64} << 20;

// Returns false if `packed` is damaged, truncated, or unpacks to more than `most` bytes.
bool inflate_all(std::string_view packed, size_t most, std::string& unpacked);

}  // namespace rung::trace
