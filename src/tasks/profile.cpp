// Makes a profile and its JSON.
// SPDX-License-Identifier: Apache-2.0
#include "tasks/profile.hpp"

#include <nlohmann/json.hpp>

#include "device/gpu/counted_figures.hpp"
#include "device/gpu/emulated.hpp"
#include "device/gpu/gpu.hpp"
#include "ladder/kept_peaks.hpp"
#include "ladder/stages.hpp"
#include "open/inputs.hpp"
#include "open/open_model.hpp"
#include "session/held_states.hpp"
#include "open/recipe.hpp"
#include "report/json.hpp"
#include "tasks/counts.hpp"
#include "tune/database.hpp"

namespace rung::tasks {
namespace {

using Json = nlohmann::json;

Json ops_to_json(const std::vector<OpTime>& ops) {
  Json json = Json::array();
  for (const auto& op : ops)
    json.push_back({{"label", op.label},
                    {"kernel", op.kernel},
                    {"problem", op.problem},
                    {"category", name_of(op.category)},
                    {"stage", op.stage},
                    {"us", op.us},
                    {"floor_us", op.floor_us},
                    {"flops", op.flops},
                    {"bytes", op.bytes}});
  return json;
}

Json stages_to_json(const std::vector<StageTime>& stages) {
  Json json = Json::array();
  for (const auto& s : stages)
    json.push_back({{"name", s.name}, {"launches", s.launches}, {"us", s.us}, {"floor_us", s.floor_us}});
  return json;
}

Json peaks_to_json(const Peaks& p) {
  return {{"fma_f32_gflops", p.fma_f32_gflops},
          {"gemm_f32_gflops", p.gemm_f32_gflops},
          {"gemm_bf16_gflops", p.gemm_bf16_gflops},
          {"read_gbps", p.read_gbps},
          {"handoff_us", p.handoff_us},
          {"barrier_us", p.barrier_us}};
}

}  // namespace

Rates gemm_rates(const Profile& profile) {
  Rates total;
  for (const auto& op : profile.ops)
    if (op.category == Category::gemm) total.us += op.us, total.flops += op.flops, total.bytes += op.bytes;
  return total;
}

Result<Profiled> profile(const ProfileTask& task) {
  RUNG_TRY(Opened opened, open_model(task.model));
  RUNG_TRY(auto plan, plan_of(opened, task.recipe, task.model));
  RUNG_TRY(Session session, open_session(plan));
  Profiled profiled;
  const DisturbanceWatch watch;
  RUNG_TRY(profiled.profile, profile_session(session, sample_missing(*plan, opened.given, 1), kSchedule.profile_s,
                                             task.interrupted, peaks_beside(default_database_path())));
  RUNG_TRY(profiled.stages, time_stages(session, profiled.profile.ops));
  profiled.disturbance = watch.so_far();
  if (!plan->target->machine.gpu.counts_instructions) return profiled;
  const gpu::Context device = plan->target->gpu->context();
  gpu::take_emulated_counts(device);
  RUNG_TRY(const HeldStates held, HeldStates::of(session));
  RUNG_CHECK(session.run());
  RUNG_CHECK(held.restore());
  profiled.counts = gpu::take_emulated_counts(device);
  return profiled;
}

Json to_json(const Profiled& profiled) {
  const Profile& profile = profiled.profile;
  const Rates gemm = gemm_rates(profile);
  Json json{{"ops", ops_to_json(profile.ops)},
            {"stages", stages_to_json(profiled.stages)},
            {"categories_us", by_category_us(profile)},
            {"peaks", peaks_to_json(profile.peaks)},
            {"gemm",
             {{"us", gemm.us},
              {"gflops", gemm.us > 0 ? gemm.flops / gemm.us * 1e-3 : 0},
              {"gbps", gemm.us > 0 ? gemm.bytes / gemm.us * 1e-3 : 0}}},
            {"cold_median_ms", profile.cold.median_ms},
            {"host_us", profile.host_us},
            {"disturbance", rung::to_json(profiled.disturbance)},
            {"floor_ms", profile.floor_ms}};
  if (!profiled.counts) return json;
  gpu::name_counts(json);
  json.update({{"clock", "instructions"}, {"counts", to_json(*profiled.counts)}});
  return json;
}

}  // namespace rung::tasks
