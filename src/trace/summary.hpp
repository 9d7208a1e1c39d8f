// A recording in figures, from which text, JSON, Markdown and HTML are written.
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
#include "trace/findings/capture_breaks.hpp"
#include "trace/findings/trace_finding.hpp"
#include "trace/note.hpp"

namespace rung::trace {

struct GapTotal {
  GapCause cause = GapCause::unknown;
  double ms = 0;
  int64_t count = 0;
};

struct CategoryTotal {
  KernelCategory category = KernelCategory::unclassified;
  double ms = 0, share = 0;  // share of the device's work
  int64_t count = 0;
};

struct KernelTotal {
  std::string name;
  KernelCategory category = KernelCategory::unclassified;
  std::string_view library;
  double ms = 0, share = 0;
  int64_t count = 0;
};

// A piece of the timeline of one step.
struct Bar {
  double from_us = 0, to_us = 0;  // since the start of the step
  bool gap = false;
  KernelCategory category = KernelCategory::unclassified;  // of work
  GapCause cause = GapCause::unknown;                      // of a gap
  std::string name;                                        // of work

  std::string_view what() const { return gap ? name_of(cause) : name_of(category); }
};

// Sums in milliseconds: of one step, or of all steps that count.
struct Figures {
  double wall_ms = 0, busy_ms = 0, host_ms = 0;
  int64_t kernels = 0;
  std::vector<GapTotal> gaps;                                  // the longest first
  std::vector<CategoryTotal> categories;                       // the longest first
  std::vector<std::pair<std::string_view, double>> libraries;  // and their ms, the longest first
  std::vector<KernelTotal> by_kernel;                          // every distinct name, the longest first
  double unclassified_share = 0;
};

struct Summary {
  std::string file, format, device, steps_from;
  std::vector<Note> notes;  // defects of the recording first
  int64_t steps = 0;        // those that count
  Figures step;             // the step of median length, which is shown and gives the bounds
  Figures all;              // of all steps that count
  std::vector<Steps::Outlier> outliers;
  int64_t empty_steps = 0, outside = 0;
  double between_ms = 0, outside_ms = 0;
  Launches launches;
  std::vector<Bar> timeline;                 // of the step of median length
  std::vector<CaptureBreak> capture_breaks;  // of the step of median length
  std::vector<TraceFinding> findings;
  std::map<std::string, int64_t, std::less<>> skipped;

  double step_ms() const { return step.wall_ms; }
  // Returns whether figures and findings describe the program.
  bool is_complete() const { return std::ranges::none_of(notes, &Note::is_grave); }
};

// `file` is the recording's name in all output.
Summary summarise(const std::string& file, const Analysis& analysis);

nlohmann::json to_json(const Summary& summary);

}  // namespace rung::trace
