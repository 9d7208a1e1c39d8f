// rung predict: estimates how long a model may take on GPUs that are not there.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/words.hpp"
#include "cli/command.hpp"
#include "cli/models.hpp"
#include "cli/output.hpp"
#include "cli/terminal.hpp"
#include "predict/predict.hpp"

namespace rung::cli {
namespace {

struct PredictFlags {
  CommonOptions common;
  std::string recipe;
  std::vector<std::string> gpus;
};

constexpr size_t kOpsShown = 12;

void print_prediction(const Prediction& prediction) {
  const gpu::Card& card = *prediction.card;
  fmt::print("{} ({})\n", card.name, card.source);
  fmt::print("predicted, not measured: {:.3f} ms; floor by published rates {:.3f} ms; {}, {:.3f} ms of them\n",
             prediction.expected_ms, prediction.floor_ms, words::counted(prediction.launches, "launch", "launches"),
             prediction.boundaries_ms);
  fmt::print("{:.1f} MB of memory at least", prediction.bytes * 1e-6);
  if (prediction.counted)
    fmt::print("; instructions of waves, by an emulator: {} of vectors, {} of matrices", prediction.vector_instructions,
               prediction.matrix_instructions);
  fmt::print("\n");
  fmt::print("\n{:<14} {:>12} {:>9} {:>9}\n", "stage", "predicted ms", "floor ms", "launches");
  for (const PredictedStage& stage : prediction.stages)
    fmt::print("{:<14} {:12.3f} {:9.3f} {:9}\n", stage.name, stage.expected_ms, stage.floor_ms, stage.launches);
  fmt::print("\n{:>5} {:>12} {:>9} {:<9} {:>7} {:>8}  {:<20} {}\n", "count", "predicted us", "floor us", "bound",
             "blocks", "resident", "kernel", "problem");
  for (size_t i = 0; i < std::min(kOpsShown, prediction.ops.size()); ++i) {
    const PredictedOp& op = prediction.ops[i];
    fmt::print("{:>5} {:12.2f} {:9.2f} {:<9} {:7.0f} {:8.0f}  {:<20} {}\n", op.count, op.each.seconds() * 1e6,
               op.each.floor_s * 1e6, kWorkBoundWords[static_cast<size_t>(op.each.bound)], op.blocks, op.resident,
               op.kernel, op.problem);
  }
  fmt::print("\n");
}

Status run_predict(const PredictFlags& options) {
  log_to_stderr(options.common.log_level);
  PredictTask task{.model = {}, .recipe = {}, .gpus = options.gpus};
  RUNG_TRY(task.model, model_options(options.common));
  RUNG_TRY(task.recipe, recipe_in(options.recipe));
  RUNG_TRY(const auto predictions, rung::predict(task));
  if (options.common.json) return print_json(to_json(predictions)), Status{};
  for (const Prediction& prediction : predictions) print_prediction(prediction);
  return {};
}

}  // namespace

std::pair<CLI::App*, Run> predict_command(CLI::App& app) {
  auto options = std::make_shared<PredictFlags>();
  auto* command = add_command(app, "predict", "estimate a model's latency on GPUs that this machine does not have");
  add_model(*command, options->common);
  add(*command, "gpu", options->gpus).splits_at(',').required();
  add(*command, "recipe", options->recipe).described("predict this recipe's plan; default: all rungs");
  return {command, [options] { return run_predict(*options); }};
}

}  // namespace rung::cli
