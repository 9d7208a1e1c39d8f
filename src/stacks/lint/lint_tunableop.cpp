// Rules on TunableOp's files: validators, solutions, names.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>

#include "stacks/files/fields.hpp"
#include "stacks/files/tunableop_names.hpp"
#include "stacks/files/tunableop_solutions.hpp"
#include "stacks/lint/lint_rules.hpp"

namespace rung::stacks::lint_rules {
namespace {

constexpr std::string_view kArchitecture = "GCN_ARCH_NAME";
constexpr std::string_view kAmdValidators[] = {kArchitecture, "ROCBLAS_VERSION", "HIPBLASLT_VERSION", "HIP_VERSION",
                                               "ROCM_VERSION"};
constexpr std::string_view kNvidiaValidators[] = {"CUBLASLT_VERSION", "CUDA_DEVICE"};

const Fact* fact_named(const TuningFile& file, std::string_view name) {
  const Fact* last = nullptr;  // PyTorch keeps the last one of a name
  for (const Fact& fact : file.facts)
    if (fact.name == name) last = &fact;
  return last;
}

bool has_any(const TuningFile& file, std::span<const std::string_view> names) {
  return std::ranges::any_of(names, [&](std::string_view name) { return fact_named(file, name); });
}

// The PyTorch that could take the file, and its vendor: the machine's if known, else the file's.
struct PyTorchBuild {
  PyTorchVersion version{99, 0};  // if no version is given, the newest
  bool amd = false, nvidia = false;
};

PyTorchBuild build_of(const TuningFile& file, const TunedMachine& machine) {
  PyTorchBuild build;
  const Fact* fact = fact_named(file, "PT_VERSION");
  const auto known = machine.versions.find("PT_VERSION");
  const std::string text = known != machine.versions.end() ? known->second : fact ? fact->value : "";
  const auto version = pytorch_version_of(text);
  build.version = version.value_or(build.version);
  build.amd = machine.is_amd() || (!machine.is_nvidia() && has_any(file, kAmdValidators));
  // A file that names no vendor can be NVIDIA's only before cuBLASLt's solutions.
  build.nvidia =
      machine.is_nvidia() || (!build.amd && (has_any(file, kNvidiaValidators) || (version && *version >= kCublasLt)));
  return build;
}

// Returns the validators that this PyTorch has.
std::vector<std::string_view> wanted_validators(const PyTorchBuild& build) {
  std::vector<std::string_view> names{"PT_VERSION"};
  if (build.amd)
    names.insert(names.end(), {kArchitecture, "ROCBLAS_VERSION", "HIPBLASLT_VERSION",
                               build.version < kHipVersion ? "ROCM_VERSION" : "HIP_VERSION"});
  if (build.nvidia && build.version >= kCublasLt)
    names.insert(names.end(), std::begin(kNvidiaValidators), std::end(kNvidiaValidators));
  return names;
}

void check_value(const Fact& fact, const TunedMachine& machine, LintNotes& notes) {
  if (fact.name == kArchitecture) {
    const bool whole = machine.architecture.find(':') != std::string::npos;
    const std::string got = whole ? fact.value : fact.value.substr(0, fact.value.find(':'));
    if (machine.architecture.empty() || got == machine.architecture) return;
    return notes.problem(fact.line, LintKind::wrong_gpu,
                         fmt::format("the file is for {}, this is {}: PyTorch takes none of it", shown(fact.value),
                                     machine.architecture));
  }
  const auto known = machine.versions.find(fact.name);
  if (known == machine.versions.end() || known->second == fact.value) return;
  notes.problem(fact.line, LintKind::wrong_version,
                fmt::format("{}: got {}, this machine has {}: PyTorch takes none of the file", fact.name,
                            shown(fact.value), shown(known->second)));
}

std::string build_text(const PyTorchBuild& build) {
  const std::string where = build.amd ? " on AMD" : build.nvidia ? " on NVIDIA" : "";
  if (build.version.major == 99) return "PyTorch" + where;
  return fmt::format("PyTorch {}.{}{}", build.version.major, build.version.minor, where);
}

std::string known_solutions(const PyTorchBuild& build) {
  if (build.amd)
    return build.version < kLeadingDimensions ? "Default, Gemm_Hipblaslt_TN_N or Gemm_Rocblas_N"
                                              : "Default, Gemm_Hipblaslt_N or Gemm_Rocblas_N";
  if (build.nvidia) return build.version < kCublasLt ? "Default, its only one" : "Default or Gemm_Cublaslt_id_N_...";
  return "Default or a solution of hipBLASLt, rocBLAS or cuBLASLt";
}

// rocBLAS has no solutions for products with a bias or scaling.
bool is_known(const SolutionName& solution, const Entry& entry, const PyTorchBuild& build) {
  if (solution.library == "default") return true;
  if (solution.library.empty()) return false;
  const bool cublaslt = solution.library == "cublaslt";
  if ((cublaslt && build.amd) || (!cublaslt && build.nvidia)) return false;
  if (cublaslt) return build.version >= kCublasLt;
  if (solution.library == "hipblaslt") return solution.has_layout == (build.version < kLeadingDimensions);
  return entry.key.starts_with("GemmTunableOp_") || entry.key.starts_with(kTunableOpWords[2]);
}

}  // namespace

void tunableop_validators(const TuningFile& file, const TunedMachine& machine, LintNotes& notes) {
  if (file.format != &tunableop || file.separator != ',') return;
  const PyTorchBuild build = build_of(file, machine);
  const auto wanted = wanted_validators(build);
  std::set<std::string_view> seen;
  for (const Fact& fact : file.facts) {
    if (!seen.insert(fact.name).second)
      notes.note(fact.line, LintKind::duplicate,
                 fmt::format("validator {} again: the last one counts", shown(fact.name)));
    if (std::ranges::find(wanted, fact.name) == wanted.end())
      notes.problem(fact.line, LintKind::validators,
                    fmt::format("validator {}: {} has none of this name, and takes none of the file", shown(fact.name),
                                build_text(build)));
    else if (&fact == fact_named(file, fact.name))
      check_value(fact, machine, notes);
  }
  for (const std::string_view name : wanted)
    if (!fact_named(file, name))
      notes.problem(0, LintKind::validators,
                    fmt::format("there is no validator {}: {} takes none of the file", name, build_text(build)));
}

void tunableop_solutions(const TuningFile& file, const TunedMachine& machine, LintNotes& notes) {
  if (file.format != &tunableop) return;
  const PyTorchBuild build = build_of(file, machine);
  const std::string_view then =
      build.version < kCublasLt ? "stops with an error at such a product" : "takes its default";
  for (const Entry& entry : file.entries)
    if (!is_known(parse_solution(entry.solution->name), entry, build))
      notes.problem(entry.line, LintKind::unknown_solution,
                    fmt::format("solution: got {}, wanted {}: {} {}", shown(entry.solution->name),
                                known_solutions(build), build_text(build), then));
}

void tunableop_names(const TuningFile& file, const TunedMachine& machine, LintNotes& notes) {
  if (file.format != &tunableop && file.format != &tunableop_untuned) return;
  const PyTorchBuild build = build_of(file, machine);
  const bool wants_leading = build.version >= kLeadingDimensions;
  for (const Entry& entry : file.entries) {
    const std::string_view key = entry.key;
    const std::string_view name = key.substr(0, key.find(',')), sizes = key.substr(key.find(',') + 1);
    const std::string_view layout = name.substr(name.rfind('_') + 1);
    if (!same_word(layout, sizes.substr(0, 2)))
      notes.problem(entry.line, LintKind::never_matches,
                    fmt::format("the operation is {} and the sizes are {}: PyTorch asks for no such row", layout,
                                shown(sizes.substr(0, 2))));
    if ((sizes.find("_ld_") != sizes.npos) != wants_leading)
      notes.problem(entry.line, LintKind::old_form,
                    fmt::format("sizes {} leading dimensions: {} does not find the row",
                                wants_leading ? "without" : "with", build_text(build)));
  }
}

// PyTorch's offline tuner rebuilds the products of its rows with torch.mm, and leaves out rows from which it cannot be
// sure to get the same product.
void tunableop_offline(const TuningFile& file, const TunedMachine&, LintNotes& notes) {
  if (file.format != &tunableop_untuned) return;
  size_t first = 0, rows = 0;
  for (const Entry& entry : file.entries) {
    if (!entry.shape) continue;
    const GemmShape& shape = *entry.shape;
    const bool plain = entry.key.starts_with("GemmTunableOp_"), batched = entry.key.starts_with(kTunableOpWords[2]);
    const bool thin = shape.m == 1 || shape.n == 1 || shape.k == 1;
    const bool is_made = shape.layout == GemmLayout::nn || (transposes_x(shape.layout) && shape.n == 1);
    if (!thin || !(batched || (plain && !is_made))) continue;
    if (rows++ == 0) first = entry.line;
  }
  if (rows)
    notes.note(
        first, LintKind::not_tuned,
        fmt::format("{} products, the first here, have a size of 1: tune_gemm_in_file() leaves them out, so that "
                    "products of one token stay untuned; tune them in a run (PYTORCH_TUNABLEOP_TUNING=1)",
                    rows));
}

}  // namespace rung::stacks::lint_rules
