// Rows of floats as integers with scales of groups of neighbours (Quantize::group).
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <span>

namespace rung::reference {

// The results of quantize() for one row: `offset` is empty where the numbers have 8 bits.
struct GroupedRow {
  std::span<uint8_t> numbers;  // i8, or two of 4 bits a byte
  float* scale;
  std::span<int8_t> group_scale, group_offset;
};

// Quantises a row whose length is a multiple of its groups', which is a multiple of 8. If it has a NaN or an infinity,
// its scale is NaN and all else 0.
void quantise_in_groups(std::span<const float> row, const GroupedRow& to);

}  // namespace rung::reference
