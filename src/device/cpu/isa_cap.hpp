// The cap of instruction sets that the environment variable RUNG_CPU_ISA sets, for tests and comparisons.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string_view>

#include "base/status.hpp"

namespace rung::cpu {

// The levels that the variable may name, each with all before it.
inline constexpr std::string_view kIsaLevels[] = {"scalar", "avx2", "avx512", "avx512_vnni", "avx512_bf16", "amx_bf16"};

// Returns the place of the level among them: of the last one where the variable is not set, or empty.
// Errors (usage): it names none of them.
Result<size_t> isa_cap();

}  // namespace rung::cpu
