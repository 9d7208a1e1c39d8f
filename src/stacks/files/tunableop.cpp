// Results of PyTorch's TunableOp: lines "Validator,NAME,VALUE", then "OPERATION,SIZES,SOLUTION,MILLISECONDS".
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <initializer_list>

#include "stacks/files/fields.hpp"
#include "stacks/files/format.hpp"
#include "stacks/files/lines.hpp"
#include "stacks/files/tunableop_names.hpp"
#include "stacks/files/tunableop_solutions.hpp"

namespace rung::stacks {
namespace {

// With PYTORCH_TUNABLEOP_BLAS_LOG=1 a line ends with this word and a description that contains commas.
constexpr std::string_view kLoggedSizes = "BLAS_PARAMS";

bool is_operation(std::string_view cell) {
  for (const std::string_view word : kTunableOpWords)
    if (cell.starts_with(word)) return true;
  return false;
}

// Returns the cells of the first line with an operation; -1: a validator. PyTorch splits at every comma, quotes or not.
int cells_of_operation(std::span<const Line> head) {
  for (const Line& line : head) {
    const std::string_view text = without_mark(line.text);
    if (text.starts_with("Validator,")) return -1;
    if (!is_operation(text)) continue;
    const auto cells = cells_of(text);
    return cells.size() > 2 && trimmed(cells[2]).starts_with(kLoggedSizes) ? 2 : static_cast<int>(cells.size());
  }
  return 0;
}

Result<std::optional<GemmShape>> shape_of_cells(std::string_view operation, std::string_view sizes) {
  RUNG_TRY(const OperationName name, parse_operation(operation));
  return parse_sizes(name, sizes);
}

Result<Entry> result_of(std::string_view line) {
  const auto cells = cells_of(line);
  if (cells.size() < 3)
    return mismatch("got {} cells in {}, wanted an operation, sizes, a solution and a time", cells.size(), shown(line));
  Entry entry;
  RUNG_TRY(entry.shape, shape_of_cells(cells[0], cells[1]));
  entry.key = fmt::format("{},{}", cells[0], cells[1]);
  const SolutionName solution = parse_solution(cells[2]);
  entry.solution = Solution{std::string(solution.library), std::string(cells[2]), solution.index, {}};
  if (cells.size() == 3) return entry;
  const auto ms = real_number(cells[3]);
  if (!ms) return mismatch("time: got {}, wanted milliseconds such as 0.0123", shown(cells[3]));
  entry.us = *ms * 1000;
  return entry;
}

Result<Entry> recorded_of(std::string_view line) {
  const auto cells = cells_of(line);
  if (cells.size() < 2 || (cells.size() > 2 && !trimmed(cells[2]).starts_with(kLoggedSizes)))
    return mismatch("got {} cells in {}, wanted an operation and sizes", cells.size(), shown(line));
  Entry entry;
  RUNG_TRY(entry.shape, shape_of_cells(cells[0], cells[1]));
  entry.key = fmt::format("{},{}", cells[0], cells[1]);
  return entry;
}

Status parse_tunableop(TuningFile& file, Result<Entry> (*entry)(std::string_view)) {
  for (size_t i = 0; i < file.lines.size(); ++i) {
    const std::string_view text = i == 0 ? without_mark(file.lines[i].text) : std::string_view(file.lines[i].text);
    if (text.empty()) continue;
    const auto cells = cells_of(text);
    if (cells[0] == "Validator" && cells.size() >= 3)
      file.facts.push_back({std::string(cells[1]), std::string(cells[2]), i + 1});
    else
      RUNG_CHECK(add_entry(file, entry(text), i + 1));
  }
  return {};
}

std::string version_of(const TunedMachine& machine, std::string_view name) {
  const auto found = machine.versions.find(name);
  if (found != machine.versions.end()) return found->second;
  const bool whole = machine.architecture.find(':') != std::string::npos;  // with its features, as PyTorch writes it
  return name == "GCN_ARCH_NAME" && whole ? machine.architecture : "";
}

// PyTorch takes a file only if the file's validators are exactly its own.
std::vector<std::string_view> validator_names(const TunedMachine& machine) {
  const auto version = pytorch_version_of(version_of(machine, "PT_VERSION"));
  if (machine.is_amd())
    return {"PT_VERSION", version && *version < kHipVersion ? "ROCM_VERSION" : "HIP_VERSION", "HIPBLASLT_VERSION",
            "GCN_ARCH_NAME", "ROCBLAS_VERSION"};
  if (version && *version < kCublasLt) return {"PT_VERSION"};
  return {"PT_VERSION", "CUBLASLT_VERSION", "CUDA_DEVICE"};
}

Result<std::vector<std::string>> validators_of(const TunedMachine& machine) {
  std::vector<std::string> lines;
  for (const std::string_view name : validator_names(machine)) {
    const std::string value = version_of(machine, name);
    if (value.empty())
      return mismatch("TunableOp: got no {} of this machine, wanted what torch.cuda.tunable.get_validators() says",
                      name);
    lines.push_back(fmt::format("Validator,{},{}", name, value));
  }
  return lines;
}

// Refuses products with scaling for NVIDIA, where PyTorch writes their sizes in another form.
Status check_target(const TuningFile& file, const Entry& entry) {
  if (!entry.shape) return mismatch("TunableOp has only matrix products");
  const bool nvidia = std::ranges::any_of(file.facts, [](const Fact& fact) { return fact.name == "CUDA_DEVICE"; });
  if (nvidia && entry.shape->scaling != Scaling::none)
    return mismatch("{}: rung writes no products with scaling for PyTorch on NVIDIA", text_of(*entry.shape));
  return {};
}

// Returns the key in the form of an existing line for this product: an older version writes another form.
Result<std::string> key_for(const TuningFile& file, const Entry& entry) {
  if (entry.line > 0) {
    const auto stood = cells_of(without_mark(file.lines[entry.line - 1].text));
    const auto shape = stood.size() < 2 ? std::nullopt : shape_of_cells(stood[0], stood[1]).value_or(std::nullopt);
    if (shape && same_product(*shape, *entry.shape)) return fmt::format("{},{}", stood[0], stood[1]);
  }
  for (const Fact& fact : file.facts)
    if (const auto version = pytorch_version_of(fact.value);
        fact.name == "PT_VERSION" && version && *version < kLeadingDimensions)
      return mismatch("the file is for PyTorch {}, wanted 2.7 or later: rows are not written for earlier ones",
                      shown(fact.value));
  return tunableop_key(*entry.shape);
}

Result<std::vector<std::string>> result_rows(TuningFile& file, Entry& entry) {
  RUNG_CHECK(check_target(file, entry));
  RUNG_TRY(entry.key, key_for(file, entry));
  if (!entry.solution || parse_solution(entry.solution->name).library.empty())
    return mismatch("solution: got {}, wanted Default or a name of TunableOp's such as Gemm_Hipblaslt_N",
                    shown(entry.solution ? entry.solution->name : ""));
  std::string line = fmt::format("{},{}", entry.key, entry.solution->name);
  if (entry.us) line += fmt::format(",{:.6g}", *entry.us / 1000);
  if (entry.line == 0) return std::vector{line};
  const auto stood = cells_of(file.lines[entry.line - 1].text);
  for (size_t i = 4; i < stood.size() && entry.us; ++i) line.append(",").append(stood[i]);
  return std::vector{line};
}

Result<std::vector<std::string>> recorded_rows(TuningFile& file, Entry& entry) {
  if (!entry.shape) return mismatch("TunableOp has only matrix products");
  RUNG_TRY(entry.key, key_for(file, entry));
  std::string line = entry.key;
  if (entry.line == 0) return std::vector{line};
  const auto stood = cells_of(file.lines[entry.line - 1].text);
  for (size_t i = 2; i < stood.size(); ++i) line.append(",").append(stood[i]);
  return std::vector{line};
}

}  // namespace

const Format tunableop{"tunableop",
                       "results of PyTorch's TunableOp",
                       "PyTorch, where PYTORCH_TUNABLEOP_ENABLED=1: the file PYTORCH_TUNABLEOP_FILENAME, with the "
                       "device's number before its "
                       "last dot",
                       Wins::first,
                       [](std::span<const Line> head) {
                         const int cells = cells_of_operation(head);
                         return cells < 0 || cells > 2;
                       },
                       [](TuningFile& file) { return parse_tunableop(file, result_of); },
                       validators_of,
                       result_rows};

const Format tunableop_untuned{
    "tunableop_untuned",
    "products that TunableOp recorded",
    "torch.cuda.tunable.tune_gemm_in_file(); written where PYTORCH_TUNABLEOP_RECORD_UNTUNED=1, as "
    "PYTORCH_TUNABLEOP_UNTUNED_FILENAME says",
    Wins::every,
    [](std::span<const Line> head) {
      const int cells = cells_of_operation(head);
      return cells > 0 && cells <= 2;
    },
    [](TuningFile& file) { return parse_tunableop(file, recorded_of); },
    [](const TunedMachine&) { return Result<std::vector<std::string>>(std::vector<std::string>{}); },
    recorded_rows};

}  // namespace rung::stacks
