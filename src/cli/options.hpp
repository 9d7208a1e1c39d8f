// Every knob of the command line in one table: flags, environment variables, --help and docs/options.md come from it.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace CLI {  // its header takes longer to compile than a command: main.cpp and options.cpp alone include it
class App;
class Option;
}  // namespace CLI

namespace rung::cli {

struct OptionRow {
  std::string_view flag;         // without dashes
  std::string_view environment;  // empty: none
  std::string_view value;        // "N", "FILE"; empty: a switch
  std::string_view help;
};

std::span<const OptionRow> option_table();
const OptionRow& option_row(std::string_view flag);  // asserts that the table has it

// An option of a command, with the further settings that CLI11 takes; each returns the option itself.
class Option {
 public:
  explicit Option(CLI::Option* option) : option_(option) {}
  Option required() const;
  Option described(std::string text) const;  // replaces the table's words
  Option takes(std::string value) const;     // replaces the word for its value: "FILE" where the table says "DIR"
  Option shows_default() const;              // in --help
  Option splits_at(char delimiter) const;
  Option within(int64_t least, int64_t most) const;  // of an option of whole numbers
  Option between(double least, double most) const;
  Option one_of(const std::vector<std::string>& values) const;
  Option needs(Option other) const;  // on the command line: a variable is set for other commands, too
  Option excludes(Option other) const;
  Option excludes_json() const;

 private:
  CLI::Option* option_;
};

CLI::App* add_command(CLI::App& app, std::string name, std::string description);
// Adds a file, given by its place on the command line.
Option add_file(CLI::App& app, std::string& target, std::string meaning, std::string name = "FILE");
void hide(CLI::App& command);             // from --help
bool is_chosen(const CLI::App& command);  // valid after parsing

// Adds the row of that flag to a command, bound to `target`. A list takes one value each time that the option is given,
// unchanged: CLI11's own lists would take "[a, b]" for two values, "[MASK]" for "MASK" and "{}" for none.
Option add(CLI::App& app, std::string_view flag, bool& target);
Option add(CLI::App& app, std::string_view flag, int& target);
Option add(CLI::App& app, std::string_view flag, double& target);
Option add(CLI::App& app, std::string_view flag, std::string& target);
Option add(CLI::App& app, std::string_view flag, std::vector<std::string>& target);
Option add(CLI::App& app, std::string_view flag, std::optional<double>& target);
Option add(CLI::App& app, std::string_view flag, std::optional<int64_t>& target);
Option add(CLI::App& app, std::string_view flag, std::optional<uint64_t>& target);

// Returns the table as Markdown, for docs/options.md.
std::string options_markdown();

// Options that most commands share.
struct CommonOptions {
  std::string model, device, dtype = "model";  // device: as asked_device() takes it
  std::vector<std::string> inputs, shapes, freeze, observed;
  std::optional<uint64_t> random_weights;
  int threads = 0;  // 0: all cores of this process
  int cache = 0;    // tokens; 0: none
  int scored_chunk = 0;
  int log_level = 0;
  bool json = false, drop_head = false, trust_code = false;
};
// Says in words what a command takes as MODEL: what importers read, or a plan.
std::string model_or_plan();
void add_common(CLI::App& app, CommonOptions& options);
// Adds the options that say which model it is, not where it runs.
void add_model(CLI::App& app, CommonOptions& options);
// Adds the option that lets a plan's own code run, for commands that run plans.
void add_trust(CLI::App& app, CommonOptions& options);
// Adds the options of add_common() for a command whose models are places on its own command line.
void add_common_options(CLI::App& app, CommonOptions& options);

}  // namespace rung::cli
