// rung options: the table of all options as Markdown.
// SPDX-License-Identifier: Apache-2.0
#include "cli/command.hpp"
#include "cli/options.hpp"

namespace rung::cli {

std::pair<CLI::App*, Run> options_command(CLI::App& app) {
  auto* command = app.add_subcommand("options", "print every option, as Markdown");
  return {command, [] { return fmt::print("{}", options_markdown()), Status{}; }};
}

}  // namespace rung::cli
