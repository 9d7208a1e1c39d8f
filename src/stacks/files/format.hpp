// A format of tuning files: one file each, and a row of formats.inc.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stacks/files/tuning_file.hpp"

namespace rung::stacks {

// States which entry a stack takes if several have one key.
enum class Wins : uint8_t {
  first,
  last,
  none,   // the stack stops with an error
  every,  // a list, in which duplicates do no harm
};

struct Format {
  std::string_view name;    // "tunableop": the word for --format and in JSON
  std::string_view title;   // "results of PyTorch's TunableOp"
  std::string_view loader;  // the program that reads it, and the variable that names the file
  Wins wins;
  // Returns whether a file that begins with these lines seems to have this format.
  bool (*looks_like)(std::span<const Line> head);
  // Fills tables, facts, entries and refused lines. Errors: more than limits allow.
  Status (*parse)(TuningFile& file);
  // Returns the lines of a header for the machine; null: the format is read only.
  Result<std::vector<std::string>> (*header)(const TunedMachine& machine);
  // Returns the lines of an entry; the last one is the entry's own, and those before it are for a new entry only. Sets
  // the entry's key and table. The inverse of parse; null: the format is read only.
  Result<std::vector<std::string>> (*rows)(TuningFile& file, Entry& entry);
};

std::span<const Format* const> formats();
// Errors: an unknown format; the message lists the known ones.
Result<const Format*> format_named(std::string_view name);

#define RUNG_TUNING_FORMAT(name) extern const Format name;
#include "stacks/files/formats.inc"
#undef RUNG_TUNING_FORMAT

}  // namespace rung::stacks
