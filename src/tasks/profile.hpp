// Times every launch of a plan alone, and its stages.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <nlohmann/json_fwd.hpp>

#include "amdgpu/run/count.hpp"
#include "ladder/profile.hpp"
#include "open/options.hpp"
#include "plan/recipe.hpp"

namespace rung::tasks {

struct ProfileTask {
  OpenOptions model;
  std::optional<Recipe> recipe;
  Interrupted interrupted = {};
};

struct Profiled {
  Profile profile;
  std::vector<StageTime> stages;
  Disturbance disturbance;
  // The counts of one run on a device that counts instructions and has no time: fields in microseconds then hold
  // numbers of instructions.
  std::optional<amdgpu::Counts> counts;
};

// Several launches together: microseconds of a run, and the least work that they need.
struct Rates {
  double us = 0, flops = 0, bytes = 0;
};
// Returns the rates of the plan's GEMMs.
Rates gemm_rates(const Profile& profile);

// Errors: those of opening, building and running; interrupted.
Result<Profiled> profile(const ProfileTask& task);
nlohmann::json to_json(const Profiled& profiled);

}  // namespace rung::tasks
