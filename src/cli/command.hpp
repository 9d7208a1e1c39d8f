// The commands of the tool: each has its words for CLI11 and its work.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <string_view>
#include <utility>

#include "base/status.hpp"
#include "cli/options.hpp"

namespace rung::cli {

using Run = std::function<Status()>;

// Each declares its options on a new subcommand of `app` and returns the function to run when chosen. One file each.
std::pair<CLI::App*, Run> climb_command(CLI::App& app);
std::pair<CLI::App*, Run> run_command(CLI::App& app);
std::pair<CLI::App*, Run> generate_command(CLI::App& app);
std::pair<CLI::App*, Run> bench_command(CLI::App& app);
std::pair<CLI::App*, Run> verify_command(CLI::App& app);
std::pair<CLI::App*, Run> compare_command(CLI::App& app);
std::pair<CLI::App*, Run> build_command(CLI::App& app);
std::pair<CLI::App*, Run> inspect_command(CLI::App& app);
std::pair<CLI::App*, Run> profile_command(CLI::App& app);
std::pair<CLI::App*, Run> explain_command(CLI::App& app);
std::pair<CLI::App*, Run> predict_command(CLI::App& app);
std::pair<CLI::App*, Run> options_command(CLI::App& app);
std::pair<CLI::App*, Run> isa_command(CLI::App& app);
std::pair<CLI::App*, Run> occupancy_command(CLI::App& app);
std::pair<CLI::App*, Run> doctor_command(CLI::App& app);
std::pair<CLI::App*, Run> advise_command(CLI::App& app);
std::pair<CLI::App*, Run> env_command(CLI::App& app);
std::pair<CLI::App*, Run> tune_command(CLI::App& app);
std::pair<CLI::App*, Run> tune_worker_command(CLI::App& app);
// Declares a subcommand of tune.
std::pair<CLI::App*, Run> tune_lint_command(CLI::App& tune);

}  // namespace rung::cli
