// How a wave ends with a finding.
// SPDX-License-Identifier: Apache-2.0
#include "amdgpu/wave.hpp"

#include <utility>

namespace rung::amdgpu {

void Wave::fail(FindingKind kind, const Instruction&, int lane, std::string detail) {
  if (pause == Pause::failed) return;
  pause = Pause::failed;
  finding.kind = kind;
  finding.lane = lane;
  finding.wave = static_cast<int>(number);
  finding.detail = std::move(detail);
}

}  // namespace rung::amdgpu
