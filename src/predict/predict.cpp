// Builds plans for described GPUs, takes their launches and executed work, and runs these through the model.
// SPDX-License-Identifier: Apache-2.0
#include "predict/predict.hpp"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "amdgpu/run/matrix/matrix.hpp"
#include "device/gpu/modules.hpp"
#include "kernels/described_target.hpp"
#include "ladder/profile.hpp"
#include "open/open_model.hpp"
#include "open/recipe.hpp"
#include "plan/build.hpp"
#include "plan/step_cost.hpp"
#include "predict/described_steps.hpp"
#include "predict/resident_blocks.hpp"

namespace rung {
namespace {

using Json = nlohmann::json;

// LDS of a compute unit moves this many bytes a cycle, by AMD's CDNA 3 white paper.
constexpr double kLdsBytesOfCycle = 128;

// The cards multiply twice as many bytes as numbers of 16 bits in a second, by their data sheets: one counts as half.
constexpr double kByteFlops = 0.5;

struct CountedWork {
  ExecutedWork work;
  uint64_t vector = 0, matrix = 0;  // instructions of waves
};

CountedWork work_of(const amdgpu::Counts& counts) {
  CountedWork counted{.vector = counts.vector, .matrix = counts.matrix};
  ExecutedWork& work = counted.work;
  for (const auto& [opcode, count] : counts.by_opcode) {
    const amdgpu::MatrixShape shape = amdgpu::matrix_shape_of(opcode);
    using amdgpu::Element;
    const bool bytes =
        shape.element == Element::i8 || shape.element == Element::byte || shape.element == Element::chosen;
    const double flops = 2.0 * shape.rows * shape.rows * shape.terms * shape.blocks * static_cast<double>(count) *
                         (bytes ? kByteFlops : 1);
    (shape.element == amdgpu::Element::f32 ? work.f32_flops : work.narrow_flops) += flops;
  }
  work.vector = static_cast<double>(counts.vector);
  work.lds_cycles =
      static_cast<double>(counts.lds_bytes) / kLdsBytesOfCycle + static_cast<double>(counts.bank_conflict_cycles);
  return counted;
}

// Work counted so far: cards of the same architecture and size execute the same instructions.
using Counted = std::map<std::string, CountedWork>;

class Predicting {
 public:
  Predicting(const gpu::Card& card, const Plan& plan, Counted& counted)
      : card_(card), plan_(plan), counted_(counted), amd_(gpu::vendor_of(card.architecture) == gpu::Vendor::amd) {
    made_.card = &card;
    made_.counted = amd_;
    for (const Stage& stage : plan.stages) made_.stages.push_back({.name = stage.name});
  }

  Result<Prediction> run() {
    for (const Step& step : plan_.steps) {
      const std::string key = work_key(step);
      auto found = known_.find(key);
      if (found == known_.end()) {
        RUNG_TRY(Known made, predict_op(step, key));
        found = known_.emplace(key, std::move(made)).first;
      }
      add(step, found->second);
    }
    for (auto& [key, known] : known_) made_.ops.push_back(std::move(known.op));
    std::ranges::stable_sort(made_.ops, std::greater{},
                             [](const PredictedOp& op) { return op.count * op.each.seconds(); });
    std::erase_if(made_.stages, [](const PredictedStage& stage) { return stage.launches == 0; });
    return std::move(made_);
  }

 private:
  struct Known {
    PredictedOp op;
    int launches = 0;  // per step
  };

  Result<Known> predict_op(const Step& step, const std::string& key) {
    RUNG_TRY(const auto launches, launches_of(plan_, step));
    Known known{.op = {.problem = step.problem, .kernel = step.choice.kernel, .label = step.label},
                .launches = static_cast<int>(launches.size())};
    const Multiplies types = multiplied_by(step, *plan_.target);
    OpWork work{.cost = cost_of_full_cache(step), .narrow = types != Multiplies::wide};
    if (types == Multiplies::bytes) work.cost.flops *= kByteFlops;
    known.op.bytes = work.cost.bytes;
    for (const gpu::RecordedLaunch& launch : launches) {
      const auto& [x, y, z] = launch.shape.grid;
      const double blocks = static_cast<double>(x) * y * z;
      RUNG_TRY(const Resident resident, resident_blocks(launch, plan_.target->machine.gpu));
      work.launches.push_back({blocks, resident.blocks});
      if (blocks <= known.op.blocks) continue;
      known.op.blocks = blocks, known.op.resident = resident.blocks, known.op.limit = resident.limit;
    }
    if (amd_) {
      RUNG_TRY(const CountedWork counted, executed(step, key));
      work.executed = counted.work;
      known.op.vector_instructions = counted.vector, known.op.matrix_instructions = counted.matrix;
    }
    known.op.each = rung::predict(work, rates_of(card_));
    return known;
  }

  Result<CountedWork> executed(const Step& step, const std::string& key) {
    const std::string whole = fmt::format("{:x} {} {}", card_.architecture, card_.units, key);
    if (auto it = counted_.find(whole); it != counted_.end()) return it->second;
    auto counts = executed_by(plan_, step);
    if (!counts) return fail_in(counts.error(), "{} on {}", step.label, step.choice.kernel);
    return counted_[whole] = work_of(*counts);
  }

  void add(const Step& step, Known& known) {
    const double floor_ms = known.op.each.floor_s * 1e3, ms = known.op.each.seconds() * 1e3;
    const std::string_view name = stage_of(plan_.stages, step.label);
    auto stage = std::ranges::find(made_.stages, name, &PredictedStage::name);
    if (stage == made_.stages.end()) stage = made_.stages.insert(stage, PredictedStage{.name = std::string(name)});
    stage->launches += known.launches, stage->floor_ms += floor_ms, stage->expected_ms += ms;
    made_.launches += known.launches, made_.floor_ms += floor_ms, made_.expected_ms += ms;
    made_.boundaries_ms += known.op.each.launch_s * 1e3;
    made_.bytes += known.op.bytes;
    made_.vector_instructions += known.op.vector_instructions;
    made_.matrix_instructions += known.op.matrix_instructions;
    ++known.op.count;
  }

  const gpu::Card& card_;
  const Plan& plan_;
  Counted& counted_;
  const bool amd_;
  std::map<std::string, Known> known_;  // by work_key()
  Prediction made_;
};

Json to_json(const PredictedOp& op) {
  return {{"problem", op.problem},
          {"kernel", op.kernel},
          {"label", op.label},
          {"count", op.count},
          {"bytes", op.bytes},
          {"vector_instructions", op.vector_instructions},
          {"matrix_instructions", op.matrix_instructions},
          {"floor_us", op.each.floor_s * 1e6},
          {"predicted_us", op.each.seconds() * 1e6},
          {"launch_us", op.each.launch_s * 1e6},
          {"bound", kWorkBoundWords[static_cast<size_t>(op.each.bound)]},
          {"blocks", op.blocks},
          {"resident", op.resident},
          {"resident_limit", op.limit}};
}

Json parameters_to_json(const ModelParameters& parameters) {
  return {{"f32_share", parameters.f32_share},
          {"path_bytes", parameters.path_bytes},
          {"round_us", parameters.round_s * 1e6}};
}

Json to_json(const gpu::Card& card) {
  return {{"word", card.word},
          {"name", card.name},
          {"architecture", gpu::architecture_name(card.architecture)},
          {"units", card.units},
          {"clock_mhz", card.clock_mhz},
          {"memory_gbps", card.memory_gbps},
          {"narrow_tflops", card.narrow_tflops},
          {"f32_tflops", card.f32_tflops},
          {"memory_share", card.memory_share},
          {"narrow_share", card.narrow_share},
          {"boundary_us", card.boundary_us},
          {"source", card.source}};
}

Json to_json(const Prediction& prediction) {
  Json ops = Json::array(), stages = Json::array();
  for (const PredictedOp& op : prediction.ops) ops.push_back(to_json(op));
  for (const PredictedStage& stage : prediction.stages)
    stages.push_back({{"name", stage.name},
                      {"launches", stage.launches},
                      {"floor_ms", stage.floor_ms},
                      {"predicted_ms", stage.expected_ms}});
  return {{"gpu", to_json(*prediction.card)},
          {"measured", false},
          {"instructions_counted", prediction.counted},
          {"floor_ms", prediction.floor_ms},
          {"predicted_ms", prediction.expected_ms},
          {"launch_ms", prediction.boundaries_ms},
          {"launches", prediction.launches},
          {"bytes", prediction.bytes},
          {"vector_instructions", prediction.vector_instructions},
          {"matrix_instructions", prediction.matrix_instructions},
          {"stages", std::move(stages)},
          {"ops", std::move(ops)}};
}

Result<Prediction> predict_on(const gpu::Card& card, const PredictTask& task, Opened& opened, Counted& counted) {
  RUNG_TRY(opened.target, described_target(card));
  RUNG_TRY(const Recipe recipe, recipe_of(opened, task.recipe, task.model));
  RUNG_TRY(Built built, build_plan(opened.subject->model.graph, recipe, {.target = opened.target, .contents = false}));
  attach_model(built.plan, *opened.subject);
  return Predicting(card, built.plan, counted).run();
}

}  // namespace

MachineRates rates_of(const gpu::Card& card) {
  return {.units = static_cast<double>(card.units),
          .clock_hz = card.clock_mhz * 1e6,
          .bytes = card.memory_gbps * 1e9,
          .narrow_flops = card.narrow_tflops * 1e12,
          .f32_flops = card.f32_tflops * 1e12,
          .bytes_share = card.memory_share,
          .narrow_share = card.narrow_share,
          .boundary_s = card.boundary_us * 1e-6};
}

Result<std::vector<Prediction>> predict(const PredictTask& task) {
  std::vector<const gpu::Card*> wanted;
  for (const std::string& word : task.gpus) {
    auto card = gpu::card_named(word);
    if (!card) return wrong_usage("{}{}", task.model.named(""), card.error().message);
    wanted.push_back(*card);
  }
  RUNG_TRY(Opened opened, open_model(task.model));
  if (!opened.subject)
    return wrong_usage("'{}' is a plan: predict needs a model directory, and may take the plan's recipe too",
                       task.model.path);
  std::vector<Prediction> predictions;
  Counted counted;
  for (const gpu::Card* card : wanted) {
    RUNG_TRY(predictions.emplace_back(), predict_on(*card, task, opened, counted));
  }
  return predictions;
}

Json to_json(const std::vector<Prediction>& predictions) {
  Json all = Json::array();
  for (const Prediction& prediction : predictions) all.push_back(to_json(prediction));
  return {{"model", parameters_to_json({})}, {"predictions", std::move(all)}};
}

}  // namespace rung
