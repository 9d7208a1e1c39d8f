// rung profile: where the time of a plan goes, launch by launch, against the floor.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>

#include "base/atomic_file.hpp"
#include "cli/command.hpp"
#include "cli/fault.hpp"
#include "cli/models.hpp"
#include "cli/output.hpp"
#include "cli/terminal.hpp"
#include "ladder/profile.hpp"
#include "ladder/stages.hpp"

namespace rung::cli {
namespace {

struct ProfileFlags {
  CommonOptions common;
  std::string trace;
};

struct Rates {
  double us = 0, flops = 0, bytes = 0;
};

// GEMMs of the plan together: the fraction of the machine's peaks that they reach.
Rates gemm_rates(const Profile& profile) {
  Rates total;
  for (const auto& op : profile.ops)
    if (op.category == Category::gemm) total.us += op.us, total.flops += op.flops, total.bytes += op.bytes;
  return total;
}

nlohmann::json stages_to_json(const std::vector<StageTime>& stages) {
  nlohmann::json json = nlohmann::json::array();
  for (const auto& s : stages)
    json.push_back({{"name", s.name}, {"launches", s.launches}, {"us", s.us}, {"floor_us", s.floor_us}});
  return json;
}

nlohmann::json to_json(const Profile& profile, const std::vector<StageTime>& stages) {
  nlohmann::json ops = nlohmann::json::array();
  for (const auto& op : profile.ops)
    ops.push_back({{"label", op.label},
                   {"kernel", op.kernel},
                   {"problem", op.problem},
                   {"category", name_of(op.category)},
                   {"stage", op.stage},
                   {"us", op.us},
                   {"floor_us", op.floor_us},
                   {"flops", op.flops},
                   {"bytes", op.bytes}});
  Rates gemm = gemm_rates(profile);
  const Peaks& p = profile.peaks;
  return {{"ops", std::move(ops)},
          {"stages", stages_to_json(stages)},
          {"categories_us", by_category_us(profile)},
          {"peaks",
           {{"fma_f32_gflops", p.fma_f32_gflops},
            {"gemm_f32_gflops", p.gemm_f32_gflops},
            {"gemm_bf16_gflops", p.gemm_bf16_gflops},
            {"read_gbps", p.read_gbps},
            {"handoff_us", p.handoff_us},
            {"barrier_us", p.barrier_us}}},
          {"gemm",
           {{"us", gemm.us},
            {"gflops", gemm.us > 0 ? gemm.flops / gemm.us * 1e-3 : 0},
            {"gbps", gemm.us > 0 ? gemm.bytes / gemm.us * 1e-3 : 0}}},
          {"cold_median_ms", profile.cold.median_ms},
          {"host_us", profile.host_us},
          {"floor_ms", profile.floor_ms}};
}

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
  Rates gemm = gemm_rates(profile);
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
  RUNG_TRY(Opened opened, open_model(options.common));
  RUNG_TRY(auto plan, plan_of(opened, options.common));
  RUNG_TRY(Session session, open_session(plan));
  RUNG_TRY(Profile profile, profile_session(session, sample_missing(*plan, opened.given, 1), kSchedule.profile_s));
  RUNG_TRY(auto stages, time_stages(session, profile.ops));
  if (!options.trace.empty()) RUNG_CHECK(write_file_atomically(options.trace, profile.trace.to_json()));
  if (options.common.json) return print_json(to_json(profile, stages)), Status{};
  print_ops(profile);
  print_summary(profile, stages);
  return {};
}

}  // namespace

std::pair<CLI::App*, Run> profile_command(CLI::App& app) {
  auto options = std::make_shared<ProfileFlags>();
  auto* command = add_command(app, "profile", "time every launch alone, against the floor of this machine");
  add_common(*command, options->common);
  add(*command, "trace", options->trace);
  return {command, [options] { return with_op_of_fault(run_profile(*options), options->common); }};
}

}  // namespace rung::cli
