// A form of pasted text: the look of its first line, and what the lines tell of a machine.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "doctor/snapshot.hpp"

namespace rung::doctor::pasted {

struct Line {
  std::string text;  // without colours and carriage returns
  size_t number = 0;
};

// A machine as far as the text tells it. Of a file that two parts tell, the later part's content holds.
class Telling {
 public:
  void begin(std::string_view form) { form_ = form; }
  void at(const Line& line) { line_ = line.number; }
  void set(const std::string& path, std::string content);
  void set_if_new(const std::string& path, std::string content);
  void variable(std::string_view name, std::string_view value);
  std::optional<std::string> told(const std::string& path) const;

  // Adds a GPU by its address on PCI, or by another name if only that is told, and returns the folder of its files.
  std::string gpu(std::string_view name, std::string_view vendor);
  // Returns the GPU with this number of the driver's topology; empty: not told.
  std::string gpu_of_node(int64_t node) const;
  void set_node(int64_t node, const std::string& folder) { nodes_.emplace_back(node, folder); }

  ToldMachine take() { return std::move(machine_); }

 private:
  std::string_view form_;
  size_t line_ = 0;
  ToldMachine machine_;
  std::vector<std::pair<int64_t, std::string>> nodes_;
};

struct TextForm {
  std::string_view name;
  bool (*begins)(std::string_view line);
  void (*read)(std::span<const Line> lines, Telling& telling);
};
extern const TextForm collect_env_form, rocm_smi_form, rocminfo_form, nvidia_query_form, nvidia_table_form;

// A variable "NAME=VALUE" in the form of env, export -p or declare -x.
struct Variable {
  std::string_view name, value;
};
std::optional<Variable> variable_of(std::string_view line);

std::vector<std::string_view> words_of(std::string_view text);
std::optional<int64_t> number_of(std::string_view text);  // only digits, at most nine
// Returns the value after "NAME:"; none: the line has another name.
std::optional<std::string_view> value_behind(std::string_view line, std::string_view name);

inline constexpr std::string_view kAmd = "0x1002", kNvidia = "0x10de";

}  // namespace rung::doctor::pasted
