// Identifies the machine, and lints.
// SPDX-License-Identifier: Apache-2.0
#include "stacks/lint/lint_tuning_file.hpp"

#include <optional>

#include "base/tool.hpp"
#include "device/gpu/cards.hpp"
#include "device/gpu/current_context.hpp"
#include "device/gpu/modules.hpp"
#include "kernels/target.hpp"
#include "ladder/budget.hpp"
#include "stacks/files/format.hpp"
#include "stacks/lint/measure_row.hpp"
#include "stacks/pytorch.hpp"
#include "stacks/tuned_file.hpp"
#include "tune/gpu_worker.hpp"

namespace rung::stacks {
namespace {

Result<const Target*> target_of(const LintTask& task) {
  if (!task.device) return nullptr;
  RUNG_TRY(const Target* target, open_target(*task.device));
  if (!target->gpu) return wrong_usage("--time-on: got {}, wanted a GPU", task.device->word);
  if (target->machine.gpu.counts_instructions)
    return wrong_usage("{} counts instructions, wanted a device that takes time", target->name);
  RUNG_CHECK(path_of_tool());  // it is the program that times rows
  return target;
}

Result<TunedMachine> machine_for(const LintTask& task, const Target* target) {
  if (target) return machine_of(*target);
  TunedMachine machine;
  if (task.gpu.empty()) return machine;
  RUNG_TRY(const gpu::Card* card, gpu::card_named(task.gpu));
  machine.gpu = card->word;
  machine.architecture = gpu::architecture_name(card->architecture);
  machine.compute_units = card->units;
  return machine;
}

Result<Validators> validators_for(const LintTask& task) {
  Validators found;
  if (!task.python.empty()) {
    RUNG_TRY(const PyTorch pytorch, ask_pytorch(task.python));
    found = pytorch.validators;
  } else if (!task.validators.empty()) {
    RUNG_TRY(const TuningFile written, read_tuning_file(task.validators, "tunableop"));
    for (const auto& fact : written.facts) found[fact.name] = fact.value;
    if (found.empty()) return bad_file("'{}': got no line 'Validator,...', wanted what PyTorch wrote", task.validators);
  }
  return found;
}

// Returns "gfx942:sramecc+:xnack-", or "sm_90" for "9.0:NVIDIA H200"; empty: validators do not give the architecture.
std::string architecture_in(const Validators& validators) {
  if (const auto amd = validators.find("GCN_ARCH_NAME"); amd != validators.end()) return amd->second;
  const auto nvidia = validators.find("CUDA_DEVICE");
  if (nvidia == validators.end()) return "";
  std::string digits = nvidia->second.substr(0, nvidia->second.find(':'));
  std::erase(digits, '.');
  return "sm_" + digits;
}

Status add_pytorch(TunedMachine& machine, const Validators& validators) {
  const std::string architecture = architecture_in(validators);
  if (architecture.empty()) return {};
  const std::string processor = architecture.substr(0, architecture.find(':'));
  if (!machine.architecture.empty() && machine.processor() != processor)
    return mismatch("PyTorch is for {}, the GPU is {}", architecture, machine.architecture);
  machine.architecture = architecture;
  return {};
}

// Times rows of a file on a device until the time is up.
class Timing {
 public:
  Timing(const LintTask& task, const Target& target, const TuningFile& file)
      : task_(task), target_(target), rows_(file.entries.size()), clock_(task.budget_s), current_(*target.gpu) {
    // TunableOp's files name library versions: solutions have other numbers in another build.
    const TunedMachine here = machine_of(target);
    for (const auto& fact : file.facts) {
      const auto open = here.versions.find(fact.name);
      if (open == here.versions.end() || open->second == fact.value) continue;
      other_build_ = fmt::format("the solutions are of {} {}, open here is {}", fact.name, fact.value, open->second);
    }
  }
  ~Timing() { end_gpu_worker(); }
  Timing(const Timing&) = delete;
  Timing& operator=(const Timing&) = delete;

  Result<MeasuredRow> time(const Entry& entry) {
    if (task_.progress)
      task_.progress(fmt::format("timing line {}", entry.line),
                     static_cast<double>(timed_++) / static_cast<double>(rows_));
    if (!other_build_.empty()) return fail("{}", other_build_);
    if (task_.interrupted && task_.interrupted()) return fail("interrupted");
    if (clock_.spent() >= clock_.total()) return fail("no time left");
    return measure_row(target_, entry);
  }

 private:
  const LintTask& task_;
  const Target& target_;
  size_t rows_, timed_ = 0;
  Budget clock_;
  gpu::CurrentContext current_;  // to ask libraries for their algorithms
  std::string other_build_;
};

}  // namespace

Result<LintReport> lint_tuning_file(const LintTask& task) {
  if (!(task.budget_s >= kLeastBudget))
    return wrong_usage("--budget: got {} s, wanted at least {} s", task.budget_s, kLeastBudget);
  RUNG_TRY(const TuningFile file, read_tuning_file(task.file, task.format));
  RUNG_TRY(const Target* target, target_of(task));
  LintOptions options;
  RUNG_TRY(options.machine, machine_for(task, target));
  RUNG_TRY(const Validators validators, validators_for(task));
  RUNG_CHECK(add_pytorch(options.machine, validators));
  // PyTorch ships its own libraries, and their versions count for its files.
  if (file.format == &tunableop) options.machine.versions = validators;
  std::optional<Timing> timing;
  if (target) {
    timing.emplace(task, *target, file);
    options.measure = [&timing](const Entry& entry) { return timing->time(entry); };
  }
  return lint(file, options);
}

}  // namespace rung::stacks
