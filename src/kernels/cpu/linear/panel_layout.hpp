// Where the rows of a packed linear's weights lie in its panels, for others that read them there.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <vector>

#include "kernels/cpu/linear/micro.hpp"
#include "kernels/kernel.hpp"

namespace rung::cpu::gemm {

// The parameters of gather_panels: columns of a panel, values of k side by side, and what k is padded to a multiple of.
inline constexpr std::array<std::string_view, 3> kPanelParams{"width", "grain", "depth"};

// Returns the values of kPanelParams that micro-kernels of floats have.
std::vector<Tunable::Values> panel_values();
Params panel_params(const MicroKernels& micro);

// Rows of k values, `width` rows to a panel.
struct PanelLayout {
  int64_t rows = 0, k = 0;
  int64_t width = 0, grain = 0;
  DType type = DType::f32;  // of the table itself; f16 is f32 in panels
  int64_t value_bytes = 0, panel_bytes = 0;

  explicit PanelLayout(const Problem& gather);
  size_t bytes() const;
  size_t offset_of(int64_t row) const;  // of its first value
  void pack(const void* from, void* to) const;
};

}  // namespace rung::cpu::gemm
