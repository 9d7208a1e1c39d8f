// Checks blocks of bytes, which the compiler turns into vector code.
// SPDX-License-Identifier: Apache-2.0
#include "ir/bool_bytes.hpp"

#include <algorithm>

namespace rung {

unsigned first_non_bool(const std::byte* values, size_t count) {
  constexpr size_t kBlock = 4096;
  constexpr std::byte kOthers{0xfe};
  for (size_t begin = 0; begin < count; begin += kBlock) {
    const std::byte* end = values + std::min(count, begin + kBlock);
    std::byte seen{0};
    for (const std::byte* at = values + begin; at < end; ++at) seen |= *at;
    if ((seen & kOthers) == std::byte{0}) continue;
    return std::to_integer<unsigned>(
        *std::find_if(values + begin, end, [](std::byte b) { return (b & kOthers) != std::byte{0}; }));
  }
  return 0;
}

Status check_bools(std::string_view what, std::string_view name, const Type& type, const std::byte* values) {
  if (type.dtype != DType::boolean) return {};
  const unsigned other = first_non_bool(values, type.bytes());
  if (other == 0) return {};
  return mismatch("{} '{}': got the byte {} in {}, wanted 0 or 1: bools are not any bytes; compare them with 0 first",
                  what, name, other, type);
}

}  // namespace rung
