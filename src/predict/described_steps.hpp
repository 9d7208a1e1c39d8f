// The launches of each step of a plan for a described GPU and, where that is one of AMD's, the work that they execute.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

#include "amdgpu/run/count.hpp"
#include "device/gpu/described.hpp"
#include "plan/plan.hpp"

namespace rung {

// Steps of the same problem on the same kernel launch and execute the same: what they have in common.
std::string work_key(const Step& step);

// The launches of a step, of a plan for a described target.
Result<std::vector<gpu::RecordedLaunch>> launches_of(const Plan& plan, const Step& step);

// Executes a step's waves by the emulator of the architecture, with zeros for all operands, and counts their work: how
// much that is depends on values nowhere but behind faults. Errors: the target is none of AMD's that can be executed;
// what the kernel did wrong; no memory.
Result<amdgpu::Counts> executed_by(const Plan& plan, const Step& step);

}  // namespace rung
