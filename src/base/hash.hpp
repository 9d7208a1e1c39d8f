// 64-bit content hashes (XXH3) for checksums and keys.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace rung {

uint64_t hash_bytes(const void* data, size_t bytes, uint64_t seed = 0);
inline uint64_t hash_text(std::string_view text, uint64_t seed = 0) {
  return hash_bytes(text.data(), text.size(), seed);
}
// Returns 16 lower-case hexadecimal digits.
std::string hex64(uint64_t value);

}  // namespace rung
