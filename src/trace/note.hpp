// A note on what a recording lacks, or on what of it was left out: one sentence with how to record it right.
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
  bool is_grave = false;  // the figures say nothing of the program: record again
};

// The grave ones first.
std::vector<Note> notes_on(const Analysis& analysis);

}  // namespace rung::trace
