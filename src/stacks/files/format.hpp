// A format of tuning files: one file each, and a row of formats.inc.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stacks/files/tuning_file.hpp"

namespace rung::stacks {

// The entry that a stack takes of several with one key.
enum class Wins : uint8_t {
  first,
  last,
  none,   // it stops with an error
  every,  // a list, in which they do no harm
};

struct Format {
  std::string_view name;    // "tunableop": the word of --format and of JSON
  std::string_view title;   // "results of PyTorch's TunableOp"
  std::string_view loader;  // who reads it, and the variable that names it there
  Wins wins;
  // Does a file that begins with these lines look like one?
  bool (*looks_like)(std::span<const Line> head);
  // Fills tables, facts, entries and refused from lines. Errors: more than limits allow.
  Status (*parse)(TuningFile& file);
  // The lines of a header for the machine; null: the format is only read.
  Result<std::vector<std::string>> (*header)(const Machine& machine);
  // The lines that say an entry; the last one is the entry's own, and those before it are for a new entry alone. Sets
  // the entry's key and table. The inverse of parse; null: the format is only read.
  Result<std::vector<std::string>> (*rows)(TuningFile& file, Entry& entry);
};

std::span<const Format* const> formats();
// Errors: there is none, naming those that there are.
Result<const Format*> format_named(std::string_view name);

#define RUNG_TUNING_FORMAT(name) extern const Format name;
#include "stacks/files/formats.inc"
#undef RUNG_TUNING_FORMAT

}  // namespace rung::stacks
