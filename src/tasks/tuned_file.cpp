// Stacks, what they call a choice, and the file before and after.
// SPDX-License-Identifier: Apache-2.0
#include "tasks/tuned_file.hpp"

#include <algorithm>
#include <filesystem>

#include "advise/tuned/format.hpp"
#include "base/atomic_file.hpp"
#include "device/gpu/current_context.hpp"
#include "device/gpu/gemm_library.hpp"
#include "device/gpu/modules.hpp"
#include "kernels/gpu/linear/linear_library.hpp"
#include "kernels/gpu/linear/matmul_library.hpp"
#include "kernels/params_text.hpp"

namespace rung::tasks {
namespace {

using advise::tuned::Machine;
using advise::tuned::Solution;
using advise::tuned::TuningFile;

constexpr auto kStacks = std::to_array<Stack>(
    {{.word = "csv", .format = "shapes", .recording = "", .rows = Rows::all},
     {.word = "tunableop", .format = "tunableop", .recording = "tunableop_untuned", .kept = "Default"},
     {.word = "hipblaslt", .format = "hipblaslt", .recording = ""},
     {.word = "aiter", .format = "aiter", .recording = "aiter_untuned", .kept = "torch"},
     {.word = "gradlib", .format = "gradlib", .recording = "gradlib_untuned", .kept = "torch"}});

bool is_there(const std::string& path) {
  std::error_code unknown;
  return std::filesystem::exists(path, unknown);
}

// An unwritable folder is found before the work, not after it.
Status check_writable(const std::string& path) {
  return PendingFiles().add((std::filesystem::path(path).parent_path() / ".rung-probe").string(), "x");  // put nowhere
}

template <class Matches>
const Stack* stack_where(const Matches& matches) {
  auto found = std::ranges::find_if(kStacks, matches);
  return found == kStacks.end() ? nullptr : &*found;
}

Result<const Stack*> stack_of(const TunedFileOptions& options) {
  if (!options.format.empty()) {
    if (const Stack* named = stack_where([&](const Stack& s) { return s.word == options.format; })) return named;
    std::string words;
    for (const Stack& stack : kStacks) words += fmt::format("{}{}", words.empty() ? "" : ", ", stack.word);
    return wrong_usage("--format: got '{}', wanted one of {}", options.format, words);
  }
  if (!is_there(options.path)) {
    const Stack* recorded = stack_where([&](const Stack& s) {
      return options.source == s.format || (!s.recording.empty() && options.source == s.recording);
    });
    return recorded ? recorded : &kStacks.front();
  }
  RUNG_TRY(const TuningFile file, advise::tuned::read_tuning_file(options.path));
  if (const Stack* found = stack_where([&](const Stack& s) { return s.format == file.format->name; })) return found;
  return wrong_usage("'{}': {} are no tuned products: name another file, or what this one is to become with --format",
                     options.path, file.format->title);
}

Validators validators_in(const TuningFile& file) {
  Validators found;
  for (const auto& fact : file.facts) found.emplace(fact.name, fact.value);
  return found;
}

Result<PyTorch> pytorch_for(const TunedFileOptions& options) {
  if (!options.python.empty()) return ask_pytorch(options.python);
  const std::string& file = options.validators.empty() ? options.path : options.validators;
  if (options.validators.empty() && !is_there(file)) {
    auto asked = ask_pytorch("python3");
    if (asked) return asked;
    return fail_in(asked.error(),
                   "PyTorch takes a file of its own versions only: --python names its Python, "
                   "--validators a file of results that it wrote");
  }
  RUNG_TRY(const TuningFile written, advise::tuned::read_tuning_file(file, "tunableop"));
  PyTorch found = pytorch_of(validators_in(written));
  if (!found.validators.contains("PT_VERSION")) return bad_file("'{}': no line 'Validator,PT_VERSION,...' in it", file);
  return found;
}

// Solutions have the numbers of one build of a library, for one architecture.
Status check_validators(const Validators& validators, const Machine& here) {
  const auto value = [&](std::string_view name) {
    auto found = validators.find(name);
    return found == validators.end() ? std::string() : found->second;
  };
  const std::string architecture = value("GCN_ARCH_NAME");
  if (here.is_amd() && architecture.empty())
    return mismatch("PyTorch's validators have no GCN_ARCH_NAME: is it built for ROCm?");
  if (!here.is_amd() && !architecture.empty())
    return mismatch("PyTorch's validators are for {}, this device is {}", architecture, here.architecture);
  if (here.is_amd() && architecture.substr(0, architecture.find(':')) != here.processor())
    return mismatch("PyTorch's validators are for {}, this device is {}", architecture, here.architecture);
  for (const auto& [name, version] : here.versions)
    if (const std::string wanted = value(name); !wanted.empty() && wanted != version)
      return mismatch(
          "PyTorch has {} {}, tuned here is {}: its solutions have other numbers. Put the folder of "
          "PyTorch's libraries into LD_LIBRARY_PATH",
          name, wanted, version);
  return {};
}

// Of a file that is there, its own must be those that are wanted now.
Status check_same(const TuningFile& file, const Validators& wanted) {
  for (const auto& [name, value] : validators_in(file)) {
    auto found = wanted.find(name);
    if (found == wanted.end() || found->second != value)
      return mismatch("'{}' is for {} {}, wanted {}: PyTorch would not take it. Write another file", file.path, name,
                      value, found == wanted.end() ? "none" : found->second);
  }
  return {};
}

std::string validator_lines(const Validators& validators) {
  std::string text;
  for (const auto& [name, value] : validators) text += fmt::format("Validator,{},{}\n", name, value);
  return text;
}

// The library that a row calls; null: none.
const gpu::GemmLibrary* library_of(const Target& target, std::string_view kernel) {
  const gpu::GemmLibrary* library = target.machine.gpu.gemm_library;
  return library && kernel.ends_with(library->name) ? library : nullptr;
}

gpu::LibraryGemm library_gemm_of(Problem problem, const Params& params) {
  problem.params = params;
  return as<Linear>(problem.op) ? gpu::library_linear::gemm_of(problem) : gpu::library_matmul::gemm_of(problem);
}

}  // namespace

std::span<const Stack> stacks() { return kStacks; }

Machine machine_of(const Target& target) {
  Machine machine;
  if (!target.gpu) return machine;
  const gpu::GpuInfo& info = target.machine.gpu;
  machine.gpu = info.name;
  machine.architecture = gpu::architecture_name(info.architecture);
  machine.compute_units = info.multiprocessors;
  const gpu::GemmLibrary* library = info.gemm_library;
  if (const std::string build = library && library->build ? library->build() : ""; !build.empty()) {
    machine.versions["HIPBLASLT_VERSION"] = build;
    machine.versions["Git Version"] = build.substr(build.find('-') + 1);
  }
  return machine;
}

Result<TunedFile> TunedFile::open(const TunedFileOptions& options, const Target& target) {
  TunedFile made;
  RUNG_TRY(made.stack_, stack_of(options));
  made.target_ = &target, made.machine_ = machine_of(target);
  if (made.stack_->rows == Rows::library && !target.gpu)
    return wrong_usage("--format {}: got the device {}, wanted a GPU", made.stack_->word, target.name);
  const bool of_pytorch = made.stack_->format == "tunableop";
  PyTorch pytorch;
  if (of_pytorch) {
    RUNG_TRY(pytorch, pytorch_for(options));
    RUNG_CHECK(check_validators(pytorch.validators, made.machine_));
    made.takes_cublaslt_ = pytorch.takes_cublaslt;
  }
  RUNG_CHECK(check_writable(options.path));
  if (is_there(options.path)) {
    RUNG_TRY(made.file_, advise::tuned::read_tuning_file(options.path, made.stack_->format));
    if (of_pytorch) RUNG_CHECK(check_same(made.file_, pytorch.validators));
  } else if (of_pytorch) {
    RUNG_TRY(made.file_,
             advise::tuned::read_tuning_text(options.path, validator_lines(pytorch.validators), "tunableop"));
  } else {
    RUNG_TRY(made.file_, advise::tuned::new_tuning_file(made.stack_->format, made.machine_));
    made.file_.path = options.path;
  }
  return made;
}

Result<std::optional<Solution>> TunedFile::solution_of(const Winner& winner) const {
  const auto& [kernel, params] = winner.choice;
  if (stack_->rows == Rows::all)
    return Solution{.library = "", .name = kernel + params_text(params), .index = {}, .split_k = {}};
  const bool of_pytorch = stack_->format == "tunableop";
  if (winner.is_default)
    return stack_->kept.empty()
               ? std::nullopt
               : std::optional(Solution{.library = std::string(stack_->kept == "Default" ? "default" : stack_->kept),
                                        .name = std::string(stack_->kept),
                                        .index = {},
                                        .split_k = {}});
  const gpu::GemmLibrary* library = library_of(*target_, kernel);
  const auto algorithm = params.find("algorithm");
  if (!library || algorithm == params.end()) return fail("{} is none of the libraries that it calls", kernel);
  const std::string_view name = library->name;
  Solution solution{.library = std::string(name), .name = "", .index = algorithm->second, .split_k = {}};
  if (of_pytorch && name == "hipblaslt") solution.name = fmt::format("Gemm_Hipblaslt_{}", algorithm->second);
  if (of_pytorch && name == "rocblas") solution.name = fmt::format("Gemm_Rocblas_{}", algorithm->second);
  if (of_pytorch && name == "cublaslt") {
    if (!takes_cublaslt_) return fail("PyTorch before 2.14 takes nothing but Default on NVIDIA");
    const gpu::CurrentContext current(*target_->gpu);
    RUNG_TRY(const std::string parameters, library->parameters(library_gemm_of(winner.problem, params)));
    solution.name = "Gemm_Cublaslt_" + parameters, solution.index = {};
  }
  return solution;
}

Result<std::string> TunedFile::put(const advise::tuned::GemmShape& shape, const Winner& winner) {
  RUNG_TRY(std::optional<Solution> solution, solution_of(winner));
  if (!solution) return "";
  const std::string said =
      solution->name.empty() ? fmt::format("{} {}", solution->library, *solution->index) : solution->name;
  advise::tuned::Entry entry{.shape = shape,
                             .key = "",
                             .solution = std::move(solution),
                             .us = winner.us,
                             .architecture = machine_.processor(),
                             .compute_units = machine_.compute_units,
                             .others = {}};
  RUNG_CHECK(advise::tuned::put(file_, std::move(entry)));
  ++rows_;
  return said;
}

Status TunedFile::write() const { return write_file_atomically(file_.path, text_of(file_)); }

}  // namespace rung::tasks
