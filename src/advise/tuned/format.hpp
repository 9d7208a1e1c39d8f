// A format of tuning files: one file each, and a row of formats.inc.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>

#include "advise/tuned/tuning_file.hpp"

namespace rung::advise::tuned {

enum class Wins : uint8_t { first, last, every };  // of several entries with one key

struct Format {
  std::string_view name;    // "tunableop": the word of --format and of JSON
  std::string_view title;   // "results of PyTorch's TunableOp"
  std::string_view loader;  // who reads it, and the variable that names it there
  Wins wins;
  // Does a file that begins with these lines look like one?
  bool (*looks_like)(std::span<const Line> head);
  // Fills columns, facts, entries and refused from lines.
  void (*parse)(TuningFile& file);
  // The lines of a header for the machine; null: the format is only read.
  Result<std::vector<std::string>> (*header)(const Machine& machine);
  // The line of an entry; the inverse of parse.
  Result<std::string> (*row)(const TuningFile& file, const Entry& entry);
};

std::span<const Format* const> formats();
// Errors: there is none, naming those that there are.
Result<const Format*> format_named(std::string_view name);

#define RUNG_TUNING_FORMAT(name) extern const Format name;
#include "advise/tuned/formats.inc"
#undef RUNG_TUNING_FORMAT

}  // namespace rung::advise::tuned
