// The tool: parses the command line, runs one command, turns its Status into an exit code.
// SPDX-License-Identifier: Apache-2.0
#include "cli/tool.hpp"

#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>

#include "base/guarded.hpp"
#include "base/log.hpp"
#include "base/tool.hpp"
#include "base/version.hpp"
#include "cli/command.hpp"
#include "cli/interrupts.hpp"
#include "cli/output.hpp"
#include "cli/stack.hpp"
#include "cli/terminal.hpp"

namespace {

using namespace rung::cli;

constexpr std::array kCommands{climb_command,   run_command,     generate_command, bench_command,      verify_command,
                               compare_command, build_command,   inspect_command,  profile_command,    explain_command,
                               predict_command, options_command, isa_command,      occupancy_command,  doctor_command,
                               advise_command,  env_command,     tune_command,     tune_worker_command};

// Refuses an unknown command or option before parsing, which would only report that the command is missing.
rung::Status check_command(const CLI::App& app, std::string_view word) {
  std::vector<std::string> names;
  for (const auto* command : app.get_subcommands({})) {
    if (command->get_name() == word) return {};
    if (!command->get_group().empty()) names.push_back(command->get_name());  // the others are not for people
  }
  const bool is_option = word.starts_with('-');
  if (is_option && app.get_option_no_throw(std::string(word))) return {};  // --help, --version
  const std::string got = word.empty() ? "no command"
                          : is_option  ? fmt::format("option '{}' before a command", word)
                                       : fmt::format("command '{}'", word);
  return rung::wrong_usage("got {}, wanted one of: {} (--help says what they do)", got, fmt::join(names, ", "));
}

// Returns the command that was chosen, or that command's chosen subcommand.
const CLI::App* chosen(const CLI::App* app) {
  while (!app->get_subcommands().empty()) app = app->get_subcommands().front();
  return app;
}

int run_chosen(const std::vector<std::pair<CLI::App*, Run>>& commands) {
  for (const auto& [app, run] : commands) {
    if (!app->parsed()) continue;
    const auto* flag = chosen(app)->get_option_no_throw("--json");
    const bool json = flag && flag->count() > 0;
    catch_interrupts(json);
    rung::Status status = rung::guarded(run);
    if (!status && std::ferror(stdout)) status = flushed();  // fmt::print() threw
    const int code = report(status ? flushed() : status, json);
    if (!status) end_if_interrupted();
    return code;
  }
  return 2;
}

int run_tool(int argc, char** argv) {
  // Our own threads call OpenBLAS for their parts; its own threads would only wait, and hang the exit without memory.
  setenv("OPENBLAS_NUM_THREADS", "1", 1);
  // A write beyond the limit of a file's size fails, and is told like any other, instead of ending the process.
  std::signal(SIGXFSZ, SIG_IGN);
  CLI::App app{"rung lowers the latency of one inference, and proves it"};
  app.set_version_flag("--version", std::string(rung::kRungVersion));
  app.require_subcommand(1);
  std::vector<std::pair<CLI::App*, Run>> commands;
  for (auto* command : kCommands) commands.push_back(command(app));
  const bool json = asks_for_json(argc, argv);
  if (rung::Status known = check_command(app, argc > 1 ? argv[1] : ""); !known) return report(known, json);
  if (rung::Status stack = ensure_stack(); !stack) return report(stack, json);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ExtrasError&) {
    const CLI::App* command = chosen(&app);
    return report(rung::wrong_usage("got '{}', which {} does not take (--help lists the options)",
                                    fmt::join(command->remaining(), " "), command->get_name()),
                  json);
  } catch (const CLI::ParseError& e) {
    if (e.get_exit_code() == 0) return app.exit(e), report(flushed(), json);  // --help, --version
    return report(rung::wrong_usage("{} (--help lists the options)", e.what()), json);
  } catch (...) {
    return report(tl::unexpected<rung::Error>(rung::error_of_exception()), json);
  }
  return run_chosen(commands);
}

}  // namespace

int rung_tool(int argc, char** argv) {
  rung::this_program_is_the_tool();
  try {
    return run_tool(argc, argv);
  } catch (...) {  // not even memory for an error's text
    std::fputs("rung: error: out of memory\n", stderr);
    return 1;
  }
}
