// A note on what a recording lacks or what was left out of it: one sentence, with the way to record it right.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "trace/analysis/analysis.hpp"

namespace rung::trace {

struct Note {
  std::string_view id;  // "no_device_work", "lost_launches", "capture", "outliers", "empty_steps", "between", "outside"
  std::string text;
  bool is_grave = false;  // the figures do not describe the program: record again
};

// Returns the notes, grave ones first.
std::vector<Note> notes_on(const Analysis& analysis);

}  // namespace rung::trace
