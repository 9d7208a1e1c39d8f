// rung options: prints the table of all options, as Markdown or JSON.
// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "cli/command.hpp"
#include "cli/options.hpp"
#include "cli/output.hpp"

namespace rung::cli {
namespace {

nlohmann::json options_json() {
  nlohmann::json options = nlohmann::json::array();
  for (const OptionRow& row : option_table())
    options.push_back({{"flag", row.flag}, {"environment", row.environment}, {"value", row.value}, {"help", row.help}});
  return {{"options", std::move(options)}};
}

}  // namespace

std::pair<CLI::App*, Run> options_command(CLI::App& app) {
  auto json = std::make_shared<bool>(false);
  auto* command = add_command(app, "options", "print every option, as Markdown");
  add(*command, "json", *json);
  return {command, [json] {
            if (*json)
              print_json(options_json());
            else
              fmt::print("{}", options_markdown());
            return Status{};
          }};
}

}  // namespace rung::cli
