// The rung tool: parses the command line, runs one command, turns its Status into an exit code.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "base/guarded.hpp"
#include "base/log.hpp"
#include "base/version.hpp"
#include "cli/command.hpp"

namespace {

using namespace rung::cli;

constexpr std::array kCommands{climb_command,   run_command,     bench_command,   verify_command,  build_command,
                               inspect_command, profile_command, explain_command, options_command, tune_worker_command};

std::string one_line(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

// Exit codes: 0 done, 1 the work failed, 2 wrong usage.
int report(const rung::Status& status) {
  if (status) return 0;
  std::fputs((std::string(kErrorPrefix) + one_line(status.error().message) + "\n").c_str(), stderr);
  return status.error().kind == rung::ErrorKind::usage ? 2 : 1;
}

// Said before parsing, which would only call the command missing.
rung::Status check_command(const CLI::App& app, std::string_view word) {
  std::vector<std::string> names;
  for (const auto* command : app.get_subcommands({})) {
    if (command->get_name() == word) return {};
    if (!command->get_group().empty()) names.push_back(command->get_name());  // the others are not for people
  }
  if (word.starts_with('-')) return {};
  return rung::wrong_usage("got {}, wanted one of: {} (--help says what they do)",
                           word.empty() ? "no command" : fmt::format("command '{}'", word), fmt::join(names, ", "));
}

// What was printed must have arrived: a full disk behind a redirection is a failure.
rung::Status flushed() {
  if (std::fflush(stdout) == 0 && !std::ferror(stdout)) return {};
  return rung::fail("cannot write to standard output: {}", std::strerror(errno));
}

int run_chosen(const std::vector<std::pair<CLI::App*, Run>>& commands) {
  for (const auto& [app, run] : commands) {
    if (!app->parsed()) continue;
    rung::Status status = rung::guarded(run);
    return report(status ? flushed() : status);
  }
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"rung lowers the latency of one inference, and proves it"};
  app.set_version_flag("--version", std::string(rung::kRungVersion));
  app.require_subcommand(1);
  std::vector<std::pair<CLI::App*, Run>> commands;
  for (auto* command : kCommands) commands.push_back(command(app));
  if (rung::Status known = check_command(app, argc > 1 ? argv[1] : ""); !known) return report(known);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    if (e.get_exit_code() == 0) return app.exit(e);  // --help, --version
    return report(rung::wrong_usage("{} (--help lists the options)", e.what()));
  } catch (...) {
    return report(tl::unexpected<rung::Error>(rung::error_of_exception()));
  }
  return run_chosen(commands);
}
