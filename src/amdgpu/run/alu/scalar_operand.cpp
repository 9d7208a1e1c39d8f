// Reads scalar operands that are no plain register, and reports defects of registers that may not be read.
// SPDX-License-Identifier: Apache-2.0
#include "amdgpu/run/alu/scalar_operand.hpp"

#include <fmt/format.h>

#include "amdgpu/run/group.hpp"

namespace rung::amdgpu {
namespace {

std::string name_of_scalar(uint32_t number) {
  switch (number) {
    case kFlatScratch:
      return "flat_scratch_lo";
    case kFlatScratch + 1:
      return "flat_scratch_hi";
    case kXnackMask:
      return "xnack_mask_lo";
    case kXnackMask + 1:
      return "xnack_mask_hi";
    case kVcc:
      return "vcc_lo";
    case kVcc + 1:
      return "vcc_hi";
    case kM0:
      return "m0";
    case kExec:
      return "exec_lo";
    case kExec + 1:
      return "exec_hi";
    default:
      return fmt::format("s{}", number);
  }
}

}  // namespace

uint64_t special_scalar(const Wave& w, uint16_t number) {
  switch (number) {
    case kVccZ:
      return w.vcc() == 0;
    case kExecZ:
      return w.exec() == 0;
    case kScc:
      return w.scc;
    default:
      return number >= kSharedBase && number <= kPrivateLimit ? w.apertures[number - kSharedBase] : 0;
  }
}

void refuse_scalar(Wave& w, const Instruction& i, uint32_t number) {
  const std::string name = name_of_scalar(number);
  if (w.scalar_pending[number])
    fail_pending(w, i, {number, true}, fmt::format("{} is still to be written by a load", name));
  else
    w.fail(DefectKind::uninitialised, i, -1, fmt::format("nobody wrote {}", name));
}

}  // namespace rung::amdgpu
