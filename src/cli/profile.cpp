// rung profile: shows where the time of a plan goes, launch by launch, against the floor.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>

#include "base/atomic_file.hpp"
#include "cli/command.hpp"
#include "cli/fault.hpp"
#include "cli/models.hpp"
#include "cli/output.hpp"
#include "cli/quiet.hpp"
#include "cli/terminal.hpp"
#include "tasks/counts.hpp"
#include "tasks/profile.hpp"

namespace rung::cli {
namespace {

struct ProfileFlags {
  CommonOptions common;
  std::string trace, wait_quiet;
};

void print_ops(const Profile& profile) {
  std::vector<OpTime> ops = profile.ops;
  std::stable_sort(ops.begin(), ops.end(), [](const auto& a, const auto& b) { return a.us > b.us; });
  if (ops.size() > 30) ops.resize(30);
  fmt::print("{:>9} {:>9} {:>8} {:>8}  {:<26} {}\n", "us", "floor us", "GFLOP/s", "GB/s", "kernel", "op");
  for (const auto& op : ops) {
    double us = std::max(op.us, 1e-3);
    fmt::print("{:9.1f} {:9.1f} {:8.1f} {:8.1f}  {:<26} {}\n", op.us, op.floor_us, op.flops / us * 1e-3,
               op.bytes / us * 1e-3, op.kernel, op.label);
  }
}

// Prints the profile of an emulator, which has no time: it has no rates and no floors.
void print_counted(const tasks::Profiled& profiled) {
  std::vector<OpTime> ops = profiled.profile.ops;
  std::stable_sort(ops.begin(), ops.end(), [](const auto& a, const auto& b) { return a.us > b.us; });
  if (ops.size() > 30) ops.resize(30);
  fmt::print("{:>14}  {:<26} {}\n", "instructions", "kernel", "op");
  for (const auto& op : ops) fmt::print("{:14.0f}  {:<26} {}\n", op.us, op.kernel, op.label);
  fmt::print("\n");
  for (const StageTime& s : profiled.stages)
    fmt::print("{:<14} {:14.0f} instructions {:8} launches\n", s.name, s.us, s.launches);
  for (const std::string& line : tasks::count_lines(*profiled.counts)) fmt::print("{}\n", line);
}

void print_summary(const Profile& profile, const std::vector<StageTime>& stages) {
  auto categories = by_category_us(profile);
  double total = std::accumulate(categories.begin(), categories.end(), 0.0,
                                 [](double sum, const auto& c) { return sum + c.second; });
  fmt::print("\n");
  for (const auto& [name, us] : categories)
    fmt::print("{:<14} {:9.1f} us {:5.1f} %\n", name, us, us / std::max(total, 1e-9) * 100);
  fmt::print("\n{:<14} {:>9} {:>9} {:>9} {:>8}\n", "stage", "us", "floor us", "left us", "launches");
  for (const auto& s : stages)
    fmt::print("{:<14} {:9.1f} {:9.1f} {:9.1f} {:8}\n", s.name, s.us, s.floor_us, std::max(0.0, s.us - s.floor_us),
               s.launches);
  const tasks::Rates gemm = tasks::gemm_rates(profile);
  const Peaks& p = profile.peaks;
  if (gemm.us > 0)
    fmt::print(
        "\nGEMMs: {:.0f} GFLOP/s, {:.0f} % of the FMA peak ({:.0f}); {:.1f} GB/s, {:.0f} % of the read bandwidth "
        "({:.1f})\n",
        gemm.flops / gemm.us * 1e-3, gemm.flops / gemm.us * 1e-1 / p.fma_f32_gflops, p.fma_f32_gflops,
        gemm.bytes / gemm.us * 1e-3, gemm.bytes / gemm.us * 1e-1 / p.read_gbps, p.read_gbps);
  fmt::print("floor {:.3f} ms; hand-off {:.2f} us, barrier {:.2f} us, {:.1f} us outside kernels per run\n",
             profile.floor_ms, p.handoff_us, p.barrier_us, profile.host_us);
}

Status run_profile(const ProfileFlags& options) {
  log_to_stderr(options.common.log_level);
  tasks::ProfileTask task;
  RUNG_TRY(task.model, model_options(options.common));
  RUNG_CHECK(wait_quiet(options.wait_quiet));
  RUNG_TRY(tasks::Profiled profiled, tasks::profile(task));
  if (!options.trace.empty()) RUNG_CHECK(write_file_atomically(options.trace, profiled.profile.trace.to_json()));
  if (options.common.json) return print_json(to_json(profiled)), Status{};
  if (profiled.counts) return print_counted(profiled), Status{};
  print_ops(profiled.profile);
  print_summary(profiled.profile, profiled.stages);
  print_disturbance(profiled.disturbance);
  return {};
}

}  // namespace

std::pair<CLI::App*, Run> profile_command(CLI::App& app) {
  auto options = std::make_shared<ProfileFlags>();
  auto* command =
      add_command(app, "profile", "time every launch by itself, and compare it with the floor of this machine");
  add_common(*command, options->common);
  add_trust(*command, options->common);
  add(*command, "trace", options->trace);
  add_wait_quiet(*command, options->wait_quiet);
  return {command, [options] { return with_op_of_fault(run_profile(*options), options->common); }};
}

}  // namespace rung::cli
