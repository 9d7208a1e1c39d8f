// GPUs as their vendors publish them, for plans and predictions on machines without the device.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>
#include <string>
#include <string_view>

#include "base/card_peaks.hpp"
#include "base/status.hpp"
#include "device/gpu/gpu_info.hpp"

namespace rung::gpu {

// `source` names the publisher of the rates and the measurer of the shares.
struct Card : CardPeaks {
  std::string_view word;  // "mi300x"
  int architecture;       // same as GpuInfo::architecture
  double clock_mhz;
  double boundary_us;  // from the end of a launch to the start of the next one in a graph
  size_t cache_bytes;
  std::string_view source;
};

std::span<const Card> cards();
// Errors (usage): there is no such card; the text names those that there are.
Result<const Card*> card_named(std::string_view word);

// Returns the card's facts as its driver would describe it, without a vendor's library.
GpuInfo info_of(const Card& card);

}  // namespace rung::gpu
