// Starts `rung run --stepwise` and reads its error line.
// SPDX-License-Identifier: Apache-2.0
#include "cli/fault.hpp"

#include "base/program.hpp"
#include "base/tool.hpp"
#include "cli/models.hpp"

namespace rung::cli {
namespace {

constexpr double kSearchSeconds = 300;  // reading and building the largest models takes a part of them

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
  const auto model = judged_model_options(common);
  if (!model) return status;
  std::vector<std::string> arguments{"run", "--stepwise"};
  for (const auto& part : {command_line_of(*model), more}) arguments.insert(arguments.end(), part.begin(), part.end());
  if (!common.inputs.empty()) arguments.insert(arguments.end(), {"--inputs", common.inputs[0]});
  status.error().message += "; " + search(arguments);
  return status;
}

}  // namespace rung::cli
