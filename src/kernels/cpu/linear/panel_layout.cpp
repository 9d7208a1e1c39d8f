// Places rows in the panels that packed.cpp fills.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/linear/panel_layout.hpp"

#include <algorithm>
#include <cstring>

#include "base/divide.hpp"
#include "base/numeric.hpp"

namespace rung::cpu::gemm {
namespace {

constexpr const MicroKernels* kFloats[] = {&kAvx2F32x24,       &kAvx2F32x16,    &kAvx2Bf16x16,   &kAvx512F32x32,
                                           &kAvx512F32x48,     &kAvx512Bf16x32, &kAvx512Bf16x48, &kAvx512DotBf16x32,
                                           &kAvx512DotBf16x48, &kAmxBf16x32};

Tunable::Values values_of(const MicroKernels& micro) { return {micro.width, micro.pack_grain, micro.depth_grain}; }

template <class From, class To>
void pack_rows(const PanelLayout& layout, const From* from, std::byte* to) {
  for (int64_t row = 0; row < layout.rows; ++row) {
    auto* values = reinterpret_cast<To*>(to + layout.offset_of(row));
    for (int64_t i = 0; i < layout.k; ++i)
      values[i / layout.grain * layout.width * layout.grain + i % layout.grain] =
          static_cast<To>(from[row * layout.k + i]);
  }
}

}  // namespace

std::vector<Tunable::Values> panel_values() {
  std::vector<Tunable::Values> all;
  for (const MicroKernels* micro : kFloats)
    if (std::ranges::find(all, values_of(*micro)) == all.end()) all.push_back(values_of(*micro));
  return all;
}

Params panel_params(const MicroKernels& micro) { return Tunable{kPanelParams}.params(values_of(micro)); }

PanelLayout::PanelLayout(const Problem& gather)
    : rows(gather.inputs[0].shape[0]),
      k(gather.inputs[0].shape[1]),
      width(gather.param(kPanelParams[0], 1)),
      grain(gather.param(kPanelParams[1], 1)),
      type(gather.inputs[0].dtype),
      value_bytes(type == DType::bf16 ? sizeof(bf16) : sizeof(float)),
      panel_bytes(round_up(round_up(k, gather.param(kPanelParams[2], 1)) * width * value_bytes, 64)) {}

size_t PanelLayout::bytes() const { return static_cast<size_t>(divide_up(rows, width) * panel_bytes); }

size_t PanelLayout::offset_of(int64_t row) const {
  return static_cast<size_t>(row / width * panel_bytes + row % width * grain * value_bytes);
}

void PanelLayout::pack(const void* from, void* to) const {
  std::memset(to, 0, bytes());
  auto* panels = static_cast<std::byte*>(to);
  if (type == DType::bf16) return pack_rows<uint16_t, uint16_t>(*this, static_cast<const uint16_t*>(from), panels);
  if (type == DType::f16) return pack_rows<f16, float>(*this, static_cast<const f16*>(from), panels);
  pack_rows<float, float>(*this, static_cast<const float*>(from), panels);
}

}  // namespace rung::cpu::gemm
