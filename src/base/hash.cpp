// 64-bit content hashes by XXH3 (libxxhash).
// SPDX-License-Identifier: Apache-2.0
#include "base/hash.hpp"

#include <fmt/format.h>
#include <xxhash.h>

namespace rung {

uint64_t hash_bytes(const void* data, size_t bytes, uint64_t seed) { return XXH3_64bits_withSeed(data, bytes, seed); }
std::string hex64(uint64_t value) { return fmt::format("{:016x}", value); }

}  // namespace rung
