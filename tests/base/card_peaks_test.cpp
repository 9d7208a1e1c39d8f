// Cards found by the names that drivers give them.
// SPDX-License-Identifier: Apache-2.0
#include "base/card_peaks.hpp"

#include <gtest/gtest.h>

#include <string>

namespace rung {
namespace {

std::string row_of(std::string_view device) {
  const CardPeaks* peaks = peaks_of_device(device);
  return peaks ? std::string(peaks->name) : "";
}

TEST(CardPeaks, AreFoundByADriversName) {
  EXPECT_EQ(row_of("NVIDIA H100 80GB HBM3"), "NVIDIA H100 SXM");
  EXPECT_EQ(row_of("NVIDIA H200"), "NVIDIA H200 SXM");
  EXPECT_EQ(row_of("AMD Instinct MI300X"), "AMD Instinct MI300X");
  EXPECT_EQ(row_of("AMD Instinct MI300X VF"), "AMD Instinct MI300X");
  EXPECT_EQ(row_of("AMD_Instinct_MI355X_OAM"), "AMD Instinct MI355X");
}

TEST(CardPeaks, OtherProductsHaveNone) {
  for (const std::string_view device :
       {"", "NVIDIA", "NVIDIA H100 PCIe", "NVIDIA H100 NVL", "NVIDIA H200 NVL", "NVIDIA GH200 480GB",
        "NVIDIA A100-SXM4-80GB", "AMD Instinct MI300A", "AMD Instinct MI3000X", "Test GPU", "H", "   "})
    EXPECT_EQ(row_of(device), "") << device;
}

TEST(CardPeaks, EachRowFindsItself) {
  for (const CardPeaks& row : kCardPeaks) EXPECT_EQ(peaks_of_device(row.name), &row);
}

}  // namespace
}  // namespace rung
