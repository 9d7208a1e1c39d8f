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
  EXPECT_EQ(row_of("NVIDIA H100 PCIe"), "NVIDIA H100 PCIe");
  EXPECT_EQ(row_of("NVIDIA H100 NVL"), "NVIDIA H100 NVL");
  EXPECT_EQ(row_of("NVIDIA H200"), "NVIDIA H200 SXM");
  EXPECT_EQ(row_of("NVIDIA H20"), "NVIDIA H20");
  EXPECT_EQ(row_of("NVIDIA GH200 480GB"), "NVIDIA GH200");
  EXPECT_EQ(row_of("NVIDIA GH200 144G HBM3e"), "NVIDIA GH200 144GB");
  EXPECT_EQ(row_of("NVIDIA B200"), "NVIDIA B200");
  EXPECT_EQ(row_of("NVIDIA GB200"), "NVIDIA GB200");
  EXPECT_EQ(row_of("NVIDIA A100-SXM4-80GB"), "NVIDIA A100 80GB SXM");
  EXPECT_EQ(row_of("NVIDIA A100 80GB PCIe"), "NVIDIA A100 80GB PCIe");
  EXPECT_EQ(row_of("A100-PCIE-40GB"), "NVIDIA A100 40GB");
  EXPECT_EQ(row_of("Tesla V100-SXM2-16GB"), "Tesla V100 SXM2");
  EXPECT_EQ(row_of("Tesla V100S-PCIE-32GB"), "Tesla V100S PCIe");
  EXPECT_EQ(row_of("NVIDIA L40S"), "NVIDIA L40S");
  EXPECT_EQ(row_of("NVIDIA L4"), "NVIDIA L4");
  EXPECT_EQ(row_of("NVIDIA GeForce RTX 3090"), "NVIDIA GeForce RTX 3090");
  EXPECT_EQ(row_of("NVIDIA GeForce RTX 5090"), "NVIDIA GeForce RTX 5090");
  EXPECT_EQ(row_of("NVIDIA Thor"), "NVIDIA Jetson AGX Thor");
  EXPECT_EQ(row_of("AMD Instinct MI300X"), "AMD Instinct MI300X");
  EXPECT_EQ(row_of("AMD Instinct MI300X VF"), "AMD Instinct MI300X");
  EXPECT_EQ(row_of("AMD_Instinct_MI355X_OAM"), "AMD Instinct MI355X");
  EXPECT_EQ(row_of("AMD Instinct MI250X / MI250"), "AMD Instinct MI250X");
  EXPECT_EQ(row_of("mi300a"), "AMD Instinct MI300A") << "as a person writes it";
}

TEST(CardPeaks, OtherProductsHaveNone) {
  for (const std::string_view device :
       {"", "NVIDIA", "AMD Instinct MI3000X", "AMD Instinct MI308X", "Test GPU", "H", "   ", "NVIDIA H100X",
        "NVIDIA H100 80GB HBM3 MIG 1g.10gb", "GRID A100-10C", "NVIDIA GeForce RTX 4090 Laptop GPU"})
    EXPECT_EQ(row_of(device), "") << device;
}

TEST(CardPeaks, EachRowFindsItself) {
  for (const CardPeaks& row : all_card_peaks()) {
    EXPECT_EQ(row_of(row.words), row.name);
    EXPECT_FALSE(row.rates_from.empty()) << row.name;
  }
}

TEST(CardPeaks, AreFoundBySizeForANamelessDevice) {
  const auto row_of_size = [](int64_t units, int64_t bytes) {
    const CardPeaks* peaks = peaks_of_size(units, bytes);
    return peaks ? std::string(peaks->name) : "";
  };
  EXPECT_EQ(row_of_size(304, 206'141'652'992), "AMD Instinct MI300X");
  EXPECT_EQ(row_of_size(304, 274'861'129'728), "AMD Instinct MI325X");
  EXPECT_EQ(row_of_size(228, 137'438'953'472), "AMD Instinct MI300A");
  EXPECT_EQ(row_of_size(256, 309'220'868'096), "") << "an MI350X and an MI355X have the same";
  EXPECT_EQ(row_of_size(304, 80'000'000'000), "");
  EXPECT_EQ(row_of_size(0, 0), "");
  EXPECT_EQ(row_of_size(-1, INT64_MIN), "");
}

// Volta and Turing have no bf16, Ampere and CDNA 2 no 8-bit floats.
TEST(CardPeaks, TellWhatACardCannotDo) {
  EXPECT_EQ(peaks_of_device("Tesla V100-SXM2-32GB")->narrow_type(), "f16");
  EXPECT_EQ(peaks_of_device("Tesla T4")->narrow, Narrow::f16);
  EXPECT_EQ(peaks_of_device("NVIDIA A100-SXM4-40GB")->narrow, Narrow::bf16);
  EXPECT_EQ(peaks_of_device("AMD Instinct MI210")->narrow, Narrow::bf16);
  EXPECT_EQ(peaks_of_device("AMD Instinct MI300X")->narrow, Narrow::f8);
  EXPECT_EQ(peaks_of_device("NVIDIA L4")->narrow_type(), "bf16");
}

}  // namespace
}  // namespace rung
