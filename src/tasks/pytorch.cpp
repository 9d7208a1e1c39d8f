// Runs Python and reads its answer.
// SPDX-License-Identifier: Apache-2.0
#include "tasks/pytorch.hpp"

#include <charconv>

#include "base/program.hpp"

namespace rung::tasks {
namespace {

constexpr double kAskSeconds = 120;  // a first import from a slow disk
constexpr std::string_view kMark = "rung-answer ";
constexpr const char* kQuestion = R"(import sys
import torch.cuda.tunable as tunable
for name, value in tunable.get_validators():
    sys.stderr.write(f"\nrung-answer validator {name}={value}\n")
if hasattr(tunable, "set_cublaslt_requested_algo_count"):
    sys.stderr.write("\nrung-answer takes cublaslt\n")
)";

std::string_view last_line(std::string_view text) {
  text = text.substr(0, text.find_last_not_of(" \r\n") + 1);
  return text.substr(text.rfind('\n') + 1);
}

// "2.14.0a0" -> 2, 14; zeros where it is no version.
std::pair<int, int> version_in(std::string_view text) {
  std::pair<int, int> version{0, 0};
  const char* end = text.data() + text.size();
  const auto [after, code] = std::from_chars(text.data(), end, version.first);
  if (code != std::errc() || after == end || *after != '.') return {0, 0};
  std::from_chars(after + 1, end, version.second);
  return version;
}

}  // namespace

PyTorch parse_answer(std::string_view text) {
  PyTorch found;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text = end == text.npos ? std::string_view() : text.substr(end + 1);
    if (!line.starts_with(kMark)) continue;
    line.remove_prefix(kMark.size());
    if (line == "takes cublaslt") found.takes_cublaslt = true;
    if (!line.starts_with("validator ")) continue;
    line.remove_prefix(std::string_view("validator ").size());
    const size_t equals = line.find('=');
    if (equals != line.npos) found.validators.emplace(line.substr(0, equals), line.substr(equals + 1));
  }
  return found;
}

Result<PyTorch> ask_pytorch(const std::string& python) {
  const bool path = python.find('/') != python.npos;
  std::vector<std::string> arguments{"-c", kQuestion};
  if (!path) arguments.insert(arguments.begin(), python);
  RUNG_TRY(const Ended ended, run_program(path ? python : "/usr/bin/env", arguments, kAskSeconds));
  PyTorch found = parse_answer(ended.errors);
  if (ended.exit_code == 0 && found.validators.contains("PT_VERSION")) return found;
  const std::string_view said = last_line(ended.errors);
  return fail("'{}' does not say what its PyTorch wants of a file: {}", python, said.empty() ? ended.how : said);
}

PyTorch pytorch_of(Validators validators) {
  const auto version = validators.find("PT_VERSION");
  const bool takes = version != validators.end() && version_in(version->second) >= std::pair(2, 14);
  return {std::move(validators), takes};
}

}  // namespace rung::tasks
