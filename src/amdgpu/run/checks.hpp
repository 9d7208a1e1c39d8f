// The checks that an execution makes of a kernel besides computing its results.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

namespace rung::amdgpu {

struct Checks {
  bool uninitialised = true, races = true, waits = true;  // bounds, alignment and barriers are always checked
  uint64_t most_instructions = uint64_t{1} << 36;         // per launch, by all waves; more: DefectKind::endless
  uint64_t shuffle_seed = 0;                              // decides the order of waves; 0: in turn
};

}  // namespace rung::amdgpu
