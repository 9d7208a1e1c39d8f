// The least time for device work: the time of its operands and arithmetic at the card's published peaks.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string_view>

#include "base/card_peaks.hpp"
#include "trace/analysis/analysis.hpp"

namespace rung::trace {

struct Demand {
  double flops = 0;  // of products, in bf16 or f16
  double bytes = 0;  // of memory, each byte read or written once
};

// Returns null if the device is not named or not in the table.
const CardPeaks* peaks_of(const Analysis& analysis);

// Returns the least time; 0 if `peaks` is null, as nothing is known then.
int64_t floor_ns(const CardPeaks* peaks, const Demand& demand);
// Returns the time at the shares of the peaks that the best known programs reach.
int64_t attainable_ns(const CardPeaks* peaks, const Demand& demand);

// Returns bytes of an element of an operand's type ("bf16"); 0: not a tensor type.
int bytes_of(std::string_view type);
bool is_narrow(std::string_view type);  // bf16 or f16

// Returns the number of elements in memory: a dimension of stride 0 counts as one element.
int64_t stored_elements_of(const CallOperand& operand);
double bytes_of(const CallOperand& operand);  // of the stored elements

}  // namespace rung::trace
