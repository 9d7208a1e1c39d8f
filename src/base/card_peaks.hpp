// Peak rates of GPUs, as their vendors publish them, and the share of those that the best known programs reach.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace rung {

// The narrow types that a card's matrix units multiply; each card also multiplies the types before its own.
enum class Narrow : uint8_t { f16, bf16, f8 };  // each with those before it

// The peak rates of a card: the greatest that the vendor publishes, dense, with sums in f32, at the highest clock.
struct CardPeaks {
  std::string_view name;   // "AMD Instinct MI300X"
  std::string_view words;  // words that a driver's name must have, "a100 80gb pcie": any order, upper or lower case
  double memory_gbps = 0;
  double narrow_tflops = 0, f32_tflops = 0;   // of bf16 and f16 products, by matrix units; of f32, without them
  double memory_share = 0, narrow_share = 0;  // measured shares of these; device/gpu/cards.cpp says by whom
  int units = 0;                              // multiprocessors, compute units; of one die where a driver shows dies
  int memory_gib = 0;
  Narrow narrow = Narrow::bf16;  // the narrowest that its matrix units take
  std::string_view rates_from;

  bool is_amd() const { return name.starts_with("AMD"); }
  // The 16-bit type to advise: "bf16", "f16".
  std::string_view narrow_type() const { return narrow == Narrow::f16 ? "f16" : "bf16"; }
};

std::span<const CardPeaks> all_card_peaks();

// Finds a device by the name that a driver or a profiler gives it, as "NVIDIA H100 80GB HBM3"; null: not in the table.
const CardPeaks* peaks_of_device(std::string_view name);
// Finds a nameless device by its size; null: no card has as many units and as much memory, or several do.
const CardPeaks* peaks_of_size(int64_t units, int64_t memory_bytes);
// Returns "mi100, mi210, ...", for a message.
std::string names_of_cards();

namespace card_table {

// A card that nobody measured has the shares of the nearest card that somebody measured.
inline constexpr double kHopperMemory = 0.875, kHopperNarrow = 0.829;  // an H200
inline constexpr double kCdnaMemory = 0.81, kCdna3Narrow = 0.60, kCdna4Narrow = 0.64;

// The first row whose words are all in a name is its card: rows with more words come first.
inline constexpr CardPeaks kRows[] = {
    {"NVIDIA H100 PCIe", "h100 pcie", 2039, 756.5, 51.2, kHopperMemory, kHopperNarrow, 114, 80, Narrow::f8,
     "data sheet: NVIDIA H100 Tensor Core GPU"},
    {"NVIDIA H100 NVL", "h100 nvl", 3938, 835.5, 60.3, kHopperMemory, kHopperNarrow, 132, 94, Narrow::f8,
     "data sheet: NVIDIA H100 NVL GPU"},
    {"NVIDIA H100 SXM", "h100", 3350, 989.4, 66.9, kHopperMemory, kHopperNarrow, 132, 80, Narrow::f8,
     "data sheet: NVIDIA H100 Tensor Core GPU"},
    {"NVIDIA H800 SXM", "h800", 3350, 989.4, 66.9, kHopperMemory, kHopperNarrow, 132, 80, Narrow::f8,
     "data sheet: NVIDIA H800 Tensor Core GPU"},
    {"NVIDIA H200 NVL", "h200 nvl", 4800, 835.5, 60.3, kHopperMemory, kHopperNarrow, 132, 141, Narrow::f8,
     "data sheet: NVIDIA H200 Tensor Core GPU"},
    {"NVIDIA H200 SXM", "h200", 4800, 989.4, 66.9, kHopperMemory, kHopperNarrow, 132, 141, Narrow::f8,
     "data sheet: NVIDIA H200 Tensor Core GPU"},
    {"NVIDIA GH200 144GB", "gh200 144g", 4900, 989.4, 66.9, kHopperMemory, kHopperNarrow, 132, 144, Narrow::f8,
     "data sheet: NVIDIA GH200 Grace Hopper Superchip"},
    {"NVIDIA GH200", "gh200", 4000, 989.4, 66.9, kHopperMemory, kHopperNarrow, 132, 96, Narrow::f8,
     "data sheet: NVIDIA GH200 Grace Hopper Superchip"},
    {"NVIDIA H20-3e", "h20 3e", 4800, 148, 44, kHopperMemory, kHopperNarrow, 78, 141, Narrow::f8,
     "data sheet: NVIDIA H20 GPU"},
    {"NVIDIA H20", "h20", 4000, 148, 44, kHopperMemory, kHopperNarrow, 78, 96, Narrow::f8,
     "data sheet: NVIDIA H20 GPU"},
    {"NVIDIA B200", "b200", 8000, 2250, 75, kHopperMemory, kHopperNarrow, 148, 180, Narrow::f8,
     "data sheet: NVIDIA HGX B200"},
    {"NVIDIA B300", "b300", 8000, 2250, 75, kHopperMemory, kHopperNarrow, 148, 270, Narrow::f8,
     "data sheet: NVIDIA HGX B300"},
    {"NVIDIA GB200", "gb200", 8000, 2500, 80, kHopperMemory, kHopperNarrow, 152, 186, Narrow::f8,
     "data sheet: NVIDIA GB200 NVL72"},
    {"NVIDIA GB300", "gb300", 8000, 2500, 80, kHopperMemory, kHopperNarrow, 152, 279, Narrow::f8,
     "data sheet: NVIDIA GB300 NVL72"},
    {"NVIDIA A100 80GB PCIe", "a100 80gb pcie", 1935, 312, 19.5, kHopperMemory, kHopperNarrow, 108, 80, Narrow::bf16,
     "data sheet: NVIDIA A100 Tensor Core GPU"},
    {"NVIDIA A100 80GB SXM", "a100 80gb", 2039, 312, 19.5, kHopperMemory, kHopperNarrow, 108, 80, Narrow::bf16,
     "data sheet: NVIDIA A100 Tensor Core GPU"},
    {"NVIDIA A100 40GB", "a100", 1555, 312, 19.5, kHopperMemory, kHopperNarrow, 108, 40, Narrow::bf16,
     "data sheet: NVIDIA A100 Tensor Core GPU"},
    {"NVIDIA A30", "a30", 933, 165, 10.3, kHopperMemory, kHopperNarrow, 56, 24, Narrow::bf16,
     "data sheet: NVIDIA A30 Tensor Core GPU"},
    {"NVIDIA A10G", "a10g", 600, 70, 35, kHopperMemory, kHopperNarrow, 80, 24, Narrow::bf16,
     "Amazon EC2 G5 instances: 70 Tflops of f16"},
    {"NVIDIA A10", "a10", 600, 125, 31.2, kHopperMemory, kHopperNarrow, 72, 24, Narrow::bf16,
     "data sheet: NVIDIA A10 Tensor Core GPU"},
    {"Tesla V100S PCIe", "v100s", 1134, 130, 16.4, kHopperMemory, kHopperNarrow, 80, 32, Narrow::f16,
     "data sheet: NVIDIA V100 Tensor Core GPU"},
    {"Tesla V100 PCIe", "v100 pcie", 900, 112, 14, kHopperMemory, kHopperNarrow, 80, 16, Narrow::f16,
     "data sheet: NVIDIA V100 Tensor Core GPU"},
    {"Tesla V100 SXM2", "v100", 900, 125, 15.7, kHopperMemory, kHopperNarrow, 80, 16, Narrow::f16,
     "data sheet: NVIDIA V100 Tensor Core GPU"},
    {"Tesla T4", "t4", 320, 65, 8.1, kHopperMemory, kHopperNarrow, 40, 16, Narrow::f16,
     "data sheet: NVIDIA T4 Tensor Core GPU"},
    {"NVIDIA L4", "l4", 300, 121, 30.3, kHopperMemory, kHopperNarrow, 58, 24, Narrow::f8,
     "data sheet: NVIDIA L4 Tensor Core GPU"},
    {"NVIDIA L40S", "l40s", 864, 362, 91.6, kHopperMemory, kHopperNarrow, 142, 48, Narrow::f8,
     "data sheet: NVIDIA L40S GPU"},
    {"NVIDIA L40", "l40", 864, 181, 90.5, kHopperMemory, kHopperNarrow, 142, 48, Narrow::f8,
     "data sheet: NVIDIA L40 GPU"},
    {"NVIDIA GeForce RTX 3090 Ti", "3090 ti", 1008, 80, 40, kHopperMemory, kHopperNarrow, 84, 24, Narrow::bf16,
     "white paper: NVIDIA Ampere GA102 GPU Architecture"},
    {"NVIDIA GeForce RTX 3090", "3090", 936, 71, 35.6, kHopperMemory, kHopperNarrow, 82, 24, Narrow::bf16,
     "white paper: NVIDIA Ampere GA102 GPU Architecture"},
    {"NVIDIA GeForce RTX 4090 D", "4090 d", 1008, 147, 73.5, kHopperMemory, kHopperNarrow, 114, 24, Narrow::f8,
     "white paper: NVIDIA Ada GPU Architecture, by units"},
    {"NVIDIA GeForce RTX 4090", "4090", 1008, 165.2, 82.6, kHopperMemory, kHopperNarrow, 128, 24, Narrow::f8,
     "white paper: NVIDIA Ada GPU Architecture"},
    {"NVIDIA GeForce RTX 5090", "5090", 1792, 209.5, 104.8, kHopperMemory, kHopperNarrow, 170, 32, Narrow::f8,
     "white paper: NVIDIA RTX Blackwell GPU Architecture"},
    {"NVIDIA Jetson AGX Thor", "thor", 273, 258.8, 8.06, kHopperMemory, kHopperNarrow, 20, 128, Narrow::f8,
     "data sheet: NVIDIA Jetson Thor; bf16 is an eighth of its sparse FP4"},
    {"AMD Instinct MI100", "mi100", 1228.8, 184.6, 23.1, kCdnaMemory, kCdna3Narrow, 120, 32, Narrow::bf16,
     "data sheet: AMD Instinct MI100; f16, bf16 has half"},
    {"AMD Instinct MI210", "mi210", 1638.4, 181, 22.6, kCdnaMemory, kCdna3Narrow, 104, 64, Narrow::bf16,
     "data sheet: AMD Instinct MI210"},
    {"AMD Instinct MI250X", "mi250x", 1638.4, 191.5, 23.9, kCdnaMemory, kCdna3Narrow, 110, 64, Narrow::bf16,
     "data sheet: AMD Instinct MI250X, one die of two"},
    {"AMD Instinct MI250", "mi250", 1638.4, 181, 22.6, kCdnaMemory, kCdna3Narrow, 104, 64, Narrow::bf16,
     "data sheet: AMD Instinct MI250, one die of two"},
    {"AMD Instinct MI300A", "mi300a", 5300, 980.6, 122.6, kCdnaMemory, kCdna3Narrow, 228, 128, Narrow::f8,
     "data sheet: AMD Instinct MI300A"},
    {"AMD Instinct MI300X", "mi300x", 5300, 1307.4, 163.4, kCdnaMemory, kCdna3Narrow, 304, 192, Narrow::f8,
     "data sheet: AMD Instinct MI300X"},
    {"AMD Instinct MI325X", "mi325x", 6000, 1307.4, 163.4, kCdnaMemory, kCdna3Narrow, 304, 256, Narrow::f8,
     "data sheet: AMD Instinct MI325X"},
    {"AMD Instinct MI350X", "mi350x", 8000, 2306.9, 144.2, kCdnaMemory, kCdna4Narrow, 256, 288, Narrow::f8,
     "data sheet: AMD Instinct MI350X"},
    {"AMD Instinct MI355X", "mi355x", 8000, 2516.6, 157.3, kCdnaMemory, kCdna4Narrow, 256, 288, Narrow::f8,
     "data sheet: AMD Instinct MI355X"},
};

}  // namespace card_table

}  // namespace rung
