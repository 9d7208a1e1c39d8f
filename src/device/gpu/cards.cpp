// The table of cards.
// SPDX-License-Identifier: Apache-2.0
#include "device/gpu/cards.hpp"

#include <algorithm>
#include <iterator>

#include "amdgpu/isa/isa.hpp"
#include "device/gpu/modules.hpp"

namespace rung::gpu {
namespace {

constexpr size_t kMiB = size_t{1} << 20;
constexpr size_t kHopperSharedBytes = 227 * 1024;

consteval const CardPeaks& peaks_of(std::string_view name) {
  for (const CardPeaks& row : card_table::kRows)
    if (row.name == name) return row;
  throw "no such row";
}

// Vendors: data sheets (NVIDIA H100 and H200 Tensor Core GPU; AMD Instinct MI300X, MI325X, MI350X and
// MI355X) and AMD's CDNA 3 and CDNA 4 white papers. Shares of an H200 and the time between its launches: measured for
// docs/measurements.md and docs/prediction.md. AMD's share of memory: "AMD MI300X GPU Performance Analysis" (2025).
// AMD's shares of products: "HipKittens" (2025), 8192 x 8192 x 8192 in bf16 on MI325X and MI355X. AMD's time between
// launches: Kog's account of a decoder that is one kernel, on MI300X.
constexpr Card kCards[] = {
    {peaks_of("NVIDIA H100 SXM"), "h100", 90, 1980, 0.67, 50 * kMiB, "data sheet; shares and launches as on an H200"},
    {peaks_of("NVIDIA H200 SXM"), "h200", 90, 1980, 0.67, 50 * kMiB, "data sheet; shares and launches measured on one"},
    {peaks_of("AMD Instinct MI300X"), "mi300x", 0x942, 2100, 4.5, 256 * kMiB,
     "data sheet; memory and launches measured on one, products on an MI325X, by others"},
    {peaks_of("AMD Instinct MI325X"), "mi325x", 0x942, 2100, 4.5, 256 * kMiB,
     "data sheet; products measured on one, memory and launches on an MI300X, by others"},
    {peaks_of("AMD Instinct MI350X"), "mi350x", 0x950, 2200, 4.5, 256 * kMiB,
     "data sheet; products measured on an MI355X, memory and launches on an MI300X, by others"},
    {peaks_of("AMD Instinct MI355X"), "mi355x", 0x950, 2400, 4.5, 256 * kMiB,
     "data sheet; products measured on one, memory and launches on an MI300X, by others"},
};

static_assert(peaks_of("AMD Instinct MI300X").units ==
              static_cast<int>(amdgpu::info_of(amdgpu::Isa::gfx942).compute_units));
static_assert(peaks_of("AMD Instinct MI355X").units ==
              static_cast<int>(amdgpu::info_of(amdgpu::Isa::gfx950).compute_units));

}  // namespace

std::span<const Card> cards() { return kCards; }

Result<const Card*> card_named(std::string_view word) {
  const auto* found = std::ranges::find(kCards, word, &Card::word);
  if (found != std::end(kCards)) return found;
  std::string words;
  for (const Card& card : kCards) words.append(words.empty() ? "" : ", ").append(card.word);
  return wrong_usage("gpu: got '{}', wanted one of {}", word, words);
}

GpuInfo info_of(const Card& card) {
  GpuInfo info;
  info.name = card.name;
  info.runtime = "described";
  info.architecture = card.architecture;
  info.multiprocessors = card.units;
  info.l2_bytes = card.cache_bytes;
  info.memory_bytes = static_cast<size_t>(card.memory_gib) << 30;
  const bool amd = vendor_of(card.architecture) == Vendor::amd;
  for (const amdgpu::IsaInfo& isa : amdgpu::kIsas)
    if (static_cast<int>(isa.number) == card.architecture) info.shared_bytes_per_block = isa.lds_bytes;
  info.lanes = amd ? amdgpu::kWaveLanes : 32;
  info.cooperative = info.clusters = info.dependent_launch = !amd;
  if (!amd) info.shared_bytes_per_block = kHopperSharedBytes;
  return info;
}

}  // namespace rung::gpu
