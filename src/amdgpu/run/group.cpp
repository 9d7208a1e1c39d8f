// Reports defects: each ends its wave, or lets it go on behind the instruction.
// SPDX-License-Identifier: Apache-2.0
#include "amdgpu/run/group.hpp"

#include <utility>

namespace rung::amdgpu {

void Group::tell(const Wave& wave, DefectKind kind, int lane, std::string detail) {
  const uint64_t index = wave.next - 1;
  for (const Defect& told : found)
    if (told.offset == index && told.kind == kind) return;
  Defect defect;
  defect.kind = kind;
  defect.offset = index;
  defect.lane = lane;
  defect.wave = static_cast<int>(wave.number);
  defect.detail = std::move(detail);
  found.push_back(std::move(defect));
}

Lds& Wave::lds() const { return group->lds; }

void Wave::fail(DefectKind kind, const Instruction&, int lane, std::string detail) {
  if (pause == Pause::failed) return;
  if (group != nullptr && group->goes_on && leaves_values(kind))
    return group->tell(*this, kind, lane, std::move(detail));
  pause = Pause::failed;
  defect.kind = kind;
  defect.lane = lane;
  defect.wave = static_cast<int>(number);
  defect.detail = std::move(detail);
}

void fail_pending(Wave& wave, const Instruction& instruction, PendingRegister reg, std::string detail) {
  wave.fail(DefectKind::missing_wait, instruction, -1, std::move(detail));
  if (wave.pause == Pause::none) wave.group->of(wave).in_flight.settle(wave, reg.number, reg.scalar);
}

}  // namespace rung::amdgpu
