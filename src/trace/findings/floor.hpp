// The least time that device work can take: what its operands and its arithmetic ask for at the card's published peaks.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string_view>

#include "base/card_peaks.hpp"
#include "trace/analysis/analysis.hpp"

namespace rung::trace {

struct Demand {
  double flops = 0;  // of products, in bf16 or f16
  double bytes = 0;  // of memory, each read or written once
};

// Null where the device is not named or not in the table.
const CardPeaks* peaks_of(const Analysis& analysis);

// Without peaks 0: nothing is known to be needed.
int64_t floor_ns(const CardPeaks* peaks, const Demand& demand);
// The same at the shares of the peaks that the best known programs reach.
int64_t attainable_ns(const CardPeaks* peaks, const Demand& demand);

// Bytes of an element of an operand's type ("bf16"); 0: not a type of tensors.
int bytes_of(std::string_view type);
bool is_narrow(std::string_view type);  // bf16 or f16

// As many as lie in memory: a dimension of stride 0 is one element long.
int64_t stored_elements_of(const Operand& operand);
double bytes_of(const Operand& operand);  // of the stored elements

}  // namespace rung::trace
