// Every knob of the command line in one table: flags, environment variables, --help and docs/options.md come from it.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <CLI/CLI.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rung::cli {

struct OptionRow {
  std::string_view flag;         // without dashes
  std::string_view environment;  // empty: none
  std::string_view value;        // "N", "FILE"; empty: a switch
  std::string_view help;
};

std::span<const OptionRow> option_table();
const OptionRow& option_row(std::string_view flag);  // asserts that it is in the table

// Adds the row of that flag to a command, bound to `target`. A list takes one value each time that the option is given,
// as it stands: CLI11's own lists would take "[a, b]" for two values, "[MASK]" for "MASK" and "{}" for none.
template <class T>
CLI::Option* add(CLI::App& app, std::string_view flag, T& target) {
  const OptionRow& row = option_row(flag);
  std::string dashed = "--" + std::string(flag), help(row.help), value(row.value);
  CLI::Option* option;
  if constexpr (std::is_same_v<T, bool>)
    option = app.add_flag(dashed, target, help);
  else if constexpr (std::is_same_v<T, std::vector<std::string>>)
    option = app.add_option(
                    dashed, [&target](const CLI::results_t& given) { return target = given, true; }, help)
                 ->take_all()
                 ->type_name(value);
  else
    option = app.add_option(dashed, target, help)->type_name(value);
  if (!row.environment.empty()) option->envname(std::string(row.environment));
  return option;
}

// The table as Markdown, for docs/options.md.
std::string options_markdown();

// What most commands share.
struct CommonOptions {
  std::string model, device = "cpu", dtype = "model", inputs;
  std::vector<std::string> shapes, freeze, observed;
  std::optional<uint64_t> random_weights;
  int threads = 0;  // 0: all cores of this process
  int log_level = 0;
  bool json = false;
};
void add_common(CLI::App& app, CommonOptions& options);

}  // namespace rung::cli
