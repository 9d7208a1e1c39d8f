// Brings elements together that are no neighbours in memory, so that code for dense rows can read them.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace rung::cpu {

// Some rows of an operand whose elements lie `stride` bytes apart.
struct Gather {
  const std::byte* from;
  int64_t stride, row_bytes, elements, rows;
};

// Elements of neighbouring rows are often neighbours in memory, so the inner loop is over rows.
template <size_t size>
void gather(const Gather& g, std::byte* to, int64_t pitch) {
  for (int64_t i = 0; i < g.elements; ++i)
    for (int64_t row = 0; row < g.rows; ++row)
      std::memcpy(to + row * pitch + i * static_cast<int64_t>(size), g.from + i * g.stride + row * g.row_bytes, size);
}
// Writes them row after row, `pitch` bytes apart; an element has 1, 2 or 4 bytes.
inline void gather(const Gather& g, size_t bytes, std::byte* to, int64_t pitch) {
  if (bytes == 4) return gather<4>(g, to, pitch);
  bytes == 2 ? gather<2>(g, to, pitch) : gather<1>(g, to, pitch);
}

}  // namespace rung::cpu
