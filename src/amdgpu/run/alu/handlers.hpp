// The families of handlers that alu_handler() asks in turn; each returns null for instructions of other families.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "amdgpu/run/handler.hpp"

namespace rung::amdgpu {

Handler scalar_handler(const Instruction& instruction);   // SOP1, SOP2, SOPK, SOPC
Handler control_handler(const Instruction& instruction);  // SOPP, program counter, MODE
Handler index_handler(const Instruction& instruction);
Handler move_handler(const Instruction& instruction);    // between lanes: v_readlane, v_writelane, swaps
Handler vector_handler(const Instruction& instruction);  // VOP*, VOPC: the instructions that have a row

}  // namespace rung::amdgpu
