// Starts `rung run --stepwise` and reads its error line.
// SPDX-License-Identifier: Apache-2.0
#include "cli/fault.hpp"

#include "base/program.hpp"
#include "cli/command.hpp"

namespace rung::cli {
namespace {

constexpr double kSearchSeconds = 300;  // reading and building the largest models takes one of them

// The command line that gives these options again.
std::vector<std::string> arguments_of(const CommonOptions& options) {
  std::vector<std::string> all{options.model, "--dtype", options.dtype};
  auto add = [&](const char* flag, const std::string& value) { all.insert(all.end(), {flag, value}); };
  if (!options.device.empty()) add("--device", options.device);
  if (!options.inputs.empty()) add("--inputs", options.inputs);
  for (const auto& shape : options.shapes) add("--shape", shape);
  for (const auto& name : options.freeze) add("--freeze", name);
  for (const auto& label : options.observed) add("--observe", label);
  if (options.random_weights) add("--random-weights", std::to_string(*options.random_weights));
  if (options.drop_head) all.emplace_back("--drop-head");
  if (options.threads > 0) add("--threads", std::to_string(options.threads));
  return all;
}

std::string last_error_line(const std::string& text) {
  size_t at = text.rfind(kErrorPrefix);
  if (at == std::string::npos) return "";
  at += kErrorPrefix.size();
  return text.substr(at, text.find('\n', at) - at);
}

std::string search(const std::vector<std::string>& arguments) {
  auto ended = run_program(kThisProgram, arguments, kSearchSeconds);
  if (!ended) return "the op was not looked for: " + ended.error().message;
  if (ended->exit_code == 0) return "the fault did not come again when its ops ran one by one";
  std::string error = last_error_line(ended->errors);
  return fmt::format("ops run one by one: {}", error.empty() ? ended->how : error);
}

}  // namespace

Status with_op_of_fault(Status status, const CommonOptions& common, const std::vector<std::string>& more) {
  if (!device_failed(status)) return status;
  fmt::print(stderr, "rung: the device failed; its ops are now run one by one, in another process, to find which\n");
  std::vector<std::string> arguments{"run", "--stepwise"};
  for (const auto& part : {arguments_of(common), more}) arguments.insert(arguments.end(), part.begin(), part.end());
  status.error().message += "; " + search(arguments);
  return status;
}

}  // namespace rung::cli
