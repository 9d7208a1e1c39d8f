// The launches of each step of a plan for a described GPU and, on an AMD GPU, the work that they execute.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

#include "amdgpu/run/count.hpp"
#include "device/gpu/described.hpp"
#include "plan/plan.hpp"

namespace rung {

// Returns the kernel and problem of a step; steps with the same key launch and execute the same.
std::string work_key(const Step& step);

// Returns the launches of a step of a plan for a described target.
Result<std::vector<gpu::RecordedLaunch>> launches_of(const Plan& plan, const Step& step);

// Executes a step's waves on the architecture's emulator, with zeros for all operands and full caches, and counts their
// work: beside that the amount depends on values only where faults are handled. Errors: the target is no AMD target
// that can be executed; an error of the kernel; no memory.
Result<amdgpu::Counts> executed_by(const Plan& plan, const Step& step);

}  // namespace rung
