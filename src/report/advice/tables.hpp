// The tables of a recording's summary in words: text, Markdown and HTML show the same cells.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "trace/difference.hpp"
#include "trace/summary.hpp"

namespace rung::report {

struct TextTable {
  std::string title;
  std::vector<std::string> head;  // the first column is a name, the others are numbers
  std::vector<std::vector<std::string>> rows;
};

inline constexpr size_t kShownKernels = 12;

// Each returns one line: source_line() the file, format and device; step_line() the step, device share and launches.
std::string source_line(const trace::Summary& summary);
std::string step_line(const trace::Summary& summary);
// Returns the lines before any table: grave notes, the step, other notes, and the events that the reader left out.
std::vector<std::string> lines_of(const trace::Summary& summary);
bool has_no_work(const trace::Summary& summary);
// Returns a sentence for a summary without findings; empty if the recording has no work.
std::string nothing_found(const trace::Summary& summary);
// Returns the line on events that the reader left out; empty: none.
std::string skipped_line(const trace::Summary& summary);

// Returns tables of a step: device work by category, gaps by cause, the longest kernels, calls that would break a
// capture; leaves out empty tables.
std::vector<TextTable> tables_of(const trace::Summary& summary);
std::vector<TextTable> tables_of(const trace::Difference& difference);
std::string difference_line(const trace::Difference& difference);

// Returns the command that shows whether a change helped.
std::string compare_command(const trace::Summary& summary);

// Returns "at most 1.8 of 2.1 ms a step (85 %)".
std::string bound_text(const trace::TraceFinding& finding, const trace::Summary& summary);
// Returns "62 x cudaStreamSynchronize, 3.1 ms".
std::string evidence_text(const trace::Evidence& evidence);

}  // namespace rung::report
