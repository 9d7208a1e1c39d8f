// The file form of a set of plans (*.rung): a safetensors file that holds the weights in their final layout, each once,
// with the versioned JSON of launches, recipes and compiled code in its metadata, under one checksum.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>

#include "base/pending_files.hpp"
#include "plan/code.hpp"

namespace rung {

// Saving is atomic: the file is written whole or not at all. add_plans() adds the file to `files`.
Status save_plan(const Plan& plan, const std::string& path);
Status save_plans(const PlanSet& set, const std::string& path);
Status add_plans(PendingFiles& files, const PlanSet& set, const std::string& path);
// Compiles nothing and packs nothing. Errors, one line each: not a plan, another version, built for another device, a
// checksum that does not match, kernels that this build does not have, addresses outside their buffers; those of
// take_code(), by which `use` says what may run.
// Another process may truncate the file at any time, and then an access to a mapping of it faults. So the whole CPU
// plan is copied into memory. A GPU plan needs no host memory once its weights are uploaded: its weights stay in the
// file and are read piece by piece, and the session reports an error if the file was truncated before.
// `choose` opens the target, given the fingerprint of the device that the plans were built for.
using ChooseTarget = std::function<Result<const Target*>(const std::string& built_for)>;
Result<PlanSet> load_plans(const std::string& path, const ChooseTarget& choose, CodeUse use = CodeUse::checked);
// Loads a file's only plan. Errors: those of load_plans(), and a file of several plans (mismatch).
Result<Plan> load_plan(const std::string& path, const Target& target = cpu_target());

}  // namespace rung
