// Instructions without memory: scalar and vector arithmetic, comparisons, conversions, moves between lanes, branches.
// SPDX-License-Identifier: Apache-2.0
// Semantics: AMD's "Instruction Set Architecture" reference guides for CDNA 2, 3 and 4. Where these leave the last bit
// open (v_exp, v_log, v_rcp, v_rsq, v_sqrt, v_sin, v_cos: hardware is within 1 ulp), results are rounded from double.
#pragma once
#include "amdgpu/isa/isa.hpp"
#include "amdgpu/run/handler.hpp"

namespace rung::amdgpu {

// Returns the handler of `instruction`; null if it is no arithmetic, or not executed here (kNotExecuted in the tests).
Handler alu_handler(const Instruction& instruction, Isa isa);

}  // namespace rung::amdgpu
