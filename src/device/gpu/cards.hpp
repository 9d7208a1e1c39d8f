// GPUs as their vendors publish them: what plans and predictions are made from where no device is.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>
#include <string>
#include <string_view>

#include "base/status.hpp"
#include "device/gpu/gpu_info.hpp"

namespace rung::gpu {

// Rates are the greatest that the vendor publishes, dense, at the highest clock. The shares say what of them the best
// known programs reach, as somebody measured it: `source` says who.
struct Card {
  std::string_view word, name;  // "mi300x", "AMD Instinct MI300X"
  int architecture;             // as GpuInfo::architecture
  int multiprocessors;          // compute units
  double clock_mhz;
  double memory_gbps;
  double narrow_tflops, f32_tflops;  // of products of bf16 and f16, by matrix units; of f32, without them
  double memory_share, narrow_share;
  double boundary_us;  // from the end of a launch to the start of the next one in a graph
  size_t memory_bytes, cache_bytes;
  std::string_view source;
};

std::span<const Card> cards();
// Errors (usage): there is none, naming those that there are.
Result<const Card*> card_named(std::string_view word);

// As its driver would describe it, without a vendor's library.
GpuInfo info_of(const Card& card);

}  // namespace rung::gpu
