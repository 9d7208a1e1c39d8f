// Predicts the time of an op's launches on a machine that is not there: the floor by published rates, and an
// expectation by a model of a few stated parameters. Nothing here is a measurement.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <string_view>
#include <vector>

#include "measure/cost.hpp"

namespace rung {

// Rates of a machine, per second: flops or bytes.
struct MachineRates {
  double units = 0, clock_hz = 0;  // units: compute units or multiprocessors
  double bytes = 0, narrow_flops = 0, f32_flops = 0;
  double bytes_share = 1, narrow_share = 1;  // the shares of those rates that the best known programs reach
  double boundary_s = 0;                     // from the end of a launch to the start of the next
};

// The parameters that belong to the model, not to a machine.
struct ModelParameters {
  // The share of the published rate of f32 that large products without matrix units reach on an H200
  // (docs/prediction.md).
  double f32_share = 0.75;
  // Bytes per cycle that a unit moves between its registers and the caches: the vendors state 64.
  double path_bytes = 64;
  // The time of a round of blocks beyond its share of the work: loads that wait for each other, barriers, stores. Only
  // this parameter is fitted, on one workload of an H200 (docs/prediction.md).
  double round_s = 2.69e-6;
};

// The shape of a launch: its blocks, and how many of them a unit holds at a time.
struct LaunchShape {
  double blocks = 1, resident = 1;
};

// The work that all waves of an op execute on CDNA; zeros where it was not counted.
struct ExecutedWork {
  double narrow_flops = 0, f32_flops = 0;  // of matrix instructions, padding of their operands included
  double vector = 0;                       // the waves' other vector instructions
  double lds_cycles = 0;                   // cycles of the units' local memories together
};

struct OpWork {
  Cost cost;
  bool narrow = false;  // multiplies types of 16 bits
  std::vector<LaunchShape> launches;
  ExecutedWork executed;
};

// The resource that the work of an op waits for longest.
enum class WorkBound : uint8_t { memory, path, products, matrix, vector, lds };
inline constexpr std::array<std::string_view, 6> kWorkBoundWords{"memory", "path",   "products",
                                                                 "matrix", "vector", "lds"};

struct PredictedTime {
  double floor_s = 0;
  double launch_s = 0;  // a part of the expectation: boundaries, and rounds of blocks
  double work_s = 0;    // the rest: the longest of the bounds
  WorkBound bound = WorkBound::memory;
  double seconds() const { return launch_s + work_s; }
};

// Returns the factor by which `blocks` equal pieces take longer on `units` than if they could be cut: the last round is
// not full.
double quantisation(double blocks, double units);

PredictedTime predict(const OpWork& work, const MachineRates& rates, const ModelParameters& parameters = {});

}  // namespace rung
