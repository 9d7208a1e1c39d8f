// What GPUs do at most, as their vendors publish it, and what of that the best known programs reach.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string_view>

namespace rung {

// Rates are the greatest that the vendor publishes, dense, at the highest clock.
struct CardPeaks {
  std::string_view name;  // "AMD Instinct MI300X"
  double memory_gbps = 0;
  double narrow_tflops = 0, f32_tflops = 0;   // of products of bf16 and f16, by matrix units; of f32, without them
  double memory_share = 0, narrow_share = 0;  // of these, what somebody measured; device/gpu/cards.cpp says who
};

// Data sheets: NVIDIA H100 and H200 Tensor Core GPU; AMD Instinct MI300X, MI325X, MI350X and MI355X.
inline constexpr CardPeaks kCardPeaks[] = {
    {"NVIDIA H100 SXM", 3350, 989.4, 66.9, 0.875, 0.829},     {"NVIDIA H200 SXM", 4800, 989.4, 66.9, 0.875, 0.829},
    {"AMD Instinct MI300X", 5300, 1307.4, 163.4, 0.81, 0.60}, {"AMD Instinct MI325X", 6000, 1307.4, 163.4, 0.81, 0.60},
    {"AMD Instinct MI350X", 8000, 2306.9, 144.2, 0.81, 0.64}, {"AMD Instinct MI355X", 8000, 2516.6, 157.3, 0.81, 0.64},
};

// By the name that a driver or a profiler gives a device, such as "NVIDIA H100 80GB HBM3"; null: not in the table, and
// products of the same chip with other memory or power, such as "NVIDIA H100 PCIe", are not.
const CardPeaks* peaks_of_device(std::string_view name);

}  // namespace rung
