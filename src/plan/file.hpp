// The file form of a set of plans (*.rung): a safetensors file that holds the weights in their final layout, each once,
// with the versioned JSON of launches and recipes in its metadata, under one checksum.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>

#include "base/pending_files.hpp"
#include "plan/plan_set.hpp"

namespace rung {

// Both write atomically.
Status save_plan(const Plan& plan, const std::string& path);
Status save_plans(const PlanSet& set, const std::string& path);
Status add_plans(PendingFiles& files, const PlanSet& set, const std::string& path);
// Compiles nothing and packs nothing. Errors, one line each: not a plan, another version, built for another device, a
// checksum that does not match, kernels that this build does not have, addresses outside their buffers.
// Another process may cut the file short at any time, which would be a fault in whoever touches a mapping of it. So a
// processor's plan is copied into memory, whole; of a GPU's, which needs no host memory once its weights are uploaded,
// the weights stay in the file and are read piece by piece: a file that was cut short before is an error of the
// session.
// `choose` opens the target when it is told the fingerprint of the device that the plans were built for.
using ChooseTarget = std::function<Result<const Target*>(const std::string& built_for)>;
Result<PlanSet> load_plans(const std::string& path, const ChooseTarget& choose);
// The only plan of a file. Errors: those of load_plans(), and a file of several (mismatch).
Result<Plan> load_plan(const std::string& path, const Target& target = cpu_target());

}  // namespace rung
