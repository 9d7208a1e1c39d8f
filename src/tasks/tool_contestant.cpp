// Runs another build of the tool as one side of a comparison: `bench --blocks` for times, `run` for outputs.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/atomic_file.hpp"
#include "base/json.hpp"
#include "base/line_program.hpp"
#include "base/program.hpp"
#include "base/tool.hpp"
#include "device/gpu/gpu_info.hpp"
#include "import/npz.hpp"
#include "tasks/contestant.hpp"

namespace rung::tasks {
namespace {

constexpr double kStartSeconds = 600;  // for reading and building the largest models
constexpr double kBlockMs = 30;        // several runs of a small model; at least one of a large one
constexpr double kAnswerSeconds = 600;

// Returns the reason why a tool failed: its last error line, else how it ended.
std::string cause(const std::string& errors, const std::string& how) {
  const std::string line = last_error_line(errors);
  return line.empty() ? how : line;
}

Result<double> median_seconds(const std::string& line) {
  auto answer = parse_json(line, "answer");
  double ms = std::nan("");
  for (const auto& [key, of_a_ms] : {std::pair{"median_ms", 1.0}, {"median_instructions", gpu::kInstructionsPerMs}})
    if (answer && answer->is_object() && answer->contains(key) && (*answer)[key].is_number())
      ms = (*answer)[key].get<double>() / of_a_ms;
  if (std::isfinite(ms)) return ms * 1e-3;
  return fail("got the answer '{}', wanted an object with a number \"median_ms\"", line.substr(0, 80));
}

class ToolContestant : public Contestant {
 public:
  explicit ToolContestant(OtherTool tool) : tool_(std::move(tool)) {}

  Status renew() override {
    program_.reset();
    std::vector<std::string> arguments{"bench", "--blocks"};
    arguments.insert(arguments.end(), tool_.arguments.begin(), tool_.arguments.end());
    arguments.insert(arguments.end(), {"--inputs", tool_.inputs});
    RUNG_TRY(LineProgram program, LineProgram::start(tool_.program, arguments, tool_.scratch + "errors"));
    program_.emplace(std::move(program));
    auto line = program_->hear(kStartSeconds);
    if (!line) return failure(line.error().message);
    if (*line == "ready") return {};
    return failure(fmt::format("got '{}', wanted 'ready'", line->substr(0, 80)));
  }
  Result<double> block() override {
    if (Status said = program_->say(fmt::format("go {}", kBlockMs)); !said) return failure(said.error().message);
    auto line = program_->hear(kAnswerSeconds);
    if (!line) return failure(line.error().message);
    auto seconds = median_seconds(*line);
    if (!seconds) return failure(seconds.error().message);
    return *seconds;
  }
  Result<NamedTensors> outputs() override {
    const std::string file = tool_.scratch + "outputs.npz";
    std::vector<std::string> arguments{"run"};
    arguments.insert(arguments.end(), tool_.arguments.begin(), tool_.arguments.end());
    arguments.insert(arguments.end(), {"--inputs", tool_.inputs, "--outputs", file});
    RUNG_TRY(Ended ended, run_program(tool_.program, arguments, kAnswerSeconds));
    if (ended.exit_code != 0) return fail("'{} run': {}", tool_.program, cause(ended.errors, ended.how));
    return read_npz(file);
  }

 private:
  tl::unexpected<Error> failure(const std::string& how) const {
    const std::string errors = read_text_file(tool_.scratch + "errors").value_or("");
    return fail("'{} bench --blocks': {}", tool_.program, cause(errors, how));
  }
  OtherTool tool_;
  std::optional<LineProgram> program_;
};

}  // namespace

Result<std::unique_ptr<Contestant>> contestant_of(OtherTool tool) {
  auto contestant = std::make_unique<ToolContestant>(std::move(tool));
  RUNG_CHECK(contestant->renew());
  return contestant;
}

Result<std::string> version_of_tool(const std::string& program, const std::string& scratch) {
  RUNG_TRY(LineProgram asked, LineProgram::start(program, {"--version"}, scratch + "errors"));
  auto line = asked.hear(kAnswerSeconds);
  if (!line) return fail_in(line.error(), "'{} --version'", program);
  return *line;
}

}  // namespace rung::tasks
