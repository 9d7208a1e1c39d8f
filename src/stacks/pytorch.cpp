// Runs Python and reads its answer.
// SPDX-License-Identifier: Apache-2.0
#include "stacks/pytorch.hpp"

#include "base/program.hpp"
#include "stacks/files/tunableop_names.hpp"

namespace rung::stacks {
namespace {

constexpr double kAskSeconds = 120;  // allows for a first import from a slow disk
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
  return fail("'{}' does not give the validators of its PyTorch: {}", python, said.empty() ? ended.how : said);
}

PyTorch pytorch_of(Validators validators) {
  const auto said = validators.find("PT_VERSION");
  const auto version = said == validators.end() ? std::nullopt : pytorch_version_of(said->second);
  return {std::move(validators), version && *version >= kCublasLt};
}

}  // namespace rung::stacks
