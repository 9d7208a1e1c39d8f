// A recording in figures: the form that text, JSON, Markdown and HTML are written from.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "trace/analysis/analysis.hpp"
#include "trace/findings/advice.hpp"
#include "trace/findings/capture_breaks.hpp"
#include "trace/note.hpp"

namespace rung::trace {

struct GapTotal {
  GapCause cause = GapCause::unknown;
  double ms = 0;
  int64_t count = 0;
};

struct CategoryTotal {
  Category category = Category::unclassified;
  double ms = 0, share = 0;  // share of the device's work
  int64_t count = 0;
};

struct KernelTotal {
  std::string name;
  Category category = Category::unclassified;
  std::string_view library;
  double ms = 0, share = 0;
  int64_t count = 0;
};

// A piece of the timeline of one step.
struct Bar {
  double from_us = 0, to_us = 0;  // since the step began
  bool gap = false;
  Category category = Category::unclassified;  // of work
  GapCause cause = GapCause::unknown;          // of a gap
  std::string name;                            // of work

  std::string_view what() const { return gap ? name_of(cause) : name_of(category); }
};

// Sums in milliseconds: of one step, or of all that are not left out.
struct Figures {
  double wall_ms = 0, busy_ms = 0, host_ms = 0;
  int64_t kernels = 0;
  std::vector<GapTotal> gaps;                                  // the longest first
  std::vector<CategoryTotal> categories;                       // likewise
  std::vector<std::pair<std::string_view, double>> libraries;  // and their ms, likewise
  std::vector<KernelTotal> by_kernel;                          // likewise, every distinct name
  double unclassified_share = 0;
};

struct Summary {
  std::string file, format, device, steps_from;
  std::vector<Note> notes;  // what the recording lacks first
  int64_t steps = 0;        // those that count
  Figures step;             // of the step whose length is the median: what is shown, and what bounds are of
  Figures all;              // of all steps that count
  std::vector<Steps::Outlier> outliers;
  int64_t empty_steps = 0, outside = 0;
  double between_ms = 0, outside_ms = 0;
  Launches launches;
  std::vector<Bar> timeline;                 // of the step whose length is the median
  std::vector<CaptureBreak> capture_breaks;  // likewise
  std::vector<Advice> findings;
  std::map<std::string, int64_t, std::less<>> skipped;

  double step_ms() const { return step.wall_ms; }
  // Without it figures and findings say nothing of the program.
  bool is_complete() const { return std::ranges::none_of(notes, &Note::is_grave); }
};

// `file` names the recording in what is written.
Summary summarise(const std::string& file, const Analysis& analysis);

nlohmann::json to_json(const Summary& summary);

}  // namespace rung::trace
