// The model: the time of the launches, plus the longest of the bounds on their work.
// SPDX-License-Identifier: Apache-2.0
#include "measure/latency_model.hpp"

#include <algorithm>
#include <cmath>

namespace rung {
namespace {

// CDNA's instruction set guides: a vector instruction of a wave (64 lanes) takes four cycles of a SIMD with 16 lanes,
// and a compute unit has four SIMDs.
constexpr double kVectorCyclesOfUnit = 1;

// Returns the blocks of the largest launch, which does the work.
double most_blocks(const std::vector<LaunchShape>& launches) {
  double most = 1;
  for (const LaunchShape& launch : launches) most = std::max(most, launch.blocks);
  return most;
}

double launch_seconds(const OpWork& work, const MachineRates& rates, const ModelParameters& parameters) {
  double seconds = 0;
  for (const LaunchShape& launch : work.launches) {
    const double rounds = std::ceil(launch.blocks / (rates.units * std::max(launch.resident, 1.0)));
    seconds += rates.boundary_s + rounds * parameters.round_s;
  }
  return seconds;
}

}  // namespace

double quantisation(double blocks, double units) { return std::ceil(blocks / units) * units / blocks; }

PredictedTime predict(const OpWork& work, const MachineRates& rates, const ModelParameters& parameters) {
  PredictedTime predicted;
  const double flops = work.narrow ? rates.narrow_flops : rates.f32_flops;
  predicted.floor_s = floor_seconds(work.cost, flops, rates.bytes);
  if (work.launches.empty()) return predicted;
  predicted.launch_s = launch_seconds(work, rates, parameters);
  const double share = work.narrow ? rates.narrow_share : parameters.f32_share;
  const double longer = quantisation(most_blocks(work.launches), rates.units);
  const double cycles = rates.units * rates.clock_hz;  // per second, of all units together
  const ExecutedWork& executed = work.executed;
  const std::array<double, 6> bounds{work.cost.bytes / (rates.bytes * rates.bytes_share),
                                     longer * work.cost.bytes / (cycles * parameters.path_bytes),
                                     longer * work.cost.flops / (flops * share),
                                     longer * (executed.narrow_flops / (rates.narrow_flops * rates.narrow_share) +
                                               executed.f32_flops / (rates.f32_flops * parameters.f32_share)),
                                     longer * executed.vector * kVectorCyclesOfUnit / cycles,
                                     longer * executed.lds_cycles / cycles};
  const auto* longest = std::max_element(bounds.begin(), bounds.end());
  predicted.work_s = *longest;
  predicted.bound = static_cast<WorkBound>(longest - bounds.begin());
  return predicted;
}

}  // namespace rung
