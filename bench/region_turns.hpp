// Times regions as generated code, as interpreted programs, and as the separate ops that they replace, in turns.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "device/cpu/team.hpp"

namespace rung {

void time_regions(cpu::Team& team);

}  // namespace rung
