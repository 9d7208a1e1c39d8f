// The plan's file form (*.rung): a safetensors file that holds the weights in their final layout, with the versioned
// JSON of launches and recipe in its metadata, under one checksum.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>

#include "base/pending_files.hpp"
#include "plan/plan.hpp"

namespace rung {

// Written atomically.
Status save_plan(const Plan& plan, const std::string& path);
Status add_plan(PendingFiles& files, const Plan& plan, const std::string& path);
// Compiles nothing and packs nothing. Errors, one line each: not a plan, another version, built for another device, a
// checksum that does not match, kernels that this build does not have, addresses outside their buffers.
// Another process may cut the file short at any time, which would be a fault in whoever touches a mapping of it. So a
// processor's plan is copied into memory, whole; of a GPU's, which needs no host memory once its weights are uploaded,
// the weights stay in the file and are read piece by piece: a file that was cut short before is an error of the
// session.
Result<Plan> load_plan(const std::string& path, const Target& target = cpu_target());
// For the target that `choose` opens, when it is told the fingerprint of the device that the plan was built for.
using ChooseTarget = std::function<Result<const Target*>(const std::string& built_for)>;
Result<Plan> load_plan(const std::string& path, const ChooseTarget& choose);

}  // namespace rung
