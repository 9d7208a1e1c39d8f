// Predicts a model's time on GPUs that are not present: floors and expectations, none of them measured.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <nlohmann/json_fwd.hpp>

#include "device/gpu/cards.hpp"
#include "measure/latency_model.hpp"
#include "open/options.hpp"
#include "plan/recipe.hpp"

namespace rung {

struct PredictTask {
  OpenOptions model;              // a directory; `device` is ignored
  std::optional<Recipe> recipe;   // none: all rungs that are not opt-in, untuned
  std::vector<std::string> gpus;  // names of cards
};

// Steps that share kernel and problem.
struct PredictedOp {
  std::string problem, kernel, label;  // label: the first step's
  int count = 0;
  double bytes = 0;                                           // the least that one moves, with full caches
  uint64_t vector_instructions = 0, matrix_instructions = 0;  // of waves, if they are counted
  PredictedTime each;
  double blocks = 0, resident = 0;  // of its launch with the most blocks
  std::string limit;                // the resource that limits `resident`
};

struct PredictedStage {
  std::string name;
  int launches = 0;
  double floor_ms = 0, expected_ms = 0;
};

struct Prediction {
  const gpu::Card* card = nullptr;
  bool counted = false;  // the expectation includes the instructions executed
  double floor_ms = 0, expected_ms = 0;
  double boundaries_ms = 0;  // part of the expectation: time between launches and in rounds of blocks
  int launches = 0;
  double bytes = 0;                                           // of all steps
  uint64_t vector_instructions = 0, matrix_instructions = 0;  // of all steps
  std::vector<PredictedStage> stages;
  std::vector<PredictedOp> ops;  // sorted by total time, the longest first
};

MachineRates rates_of(const gpu::Card& card);

// Errors: those of opening and building; a plan, or the name of no card (usage); a build without kernels for the card.
Result<std::vector<Prediction>> predict(const PredictTask& task);
nlohmann::json to_json(const std::vector<Prediction>& predictions);

}  // namespace rung
