// The tables of a recording's summary, in words: text, Markdown and HTML show the same cells.
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

// One line: what was read. One line: the step, the device's share of it, launches.
std::string source_line(const trace::Summary& summary);
std::string step_line(const trace::Summary& summary);
// The lines before any table: what the recording lacks, the step, what does not count, what the reader left out.
std::vector<std::string> lines_of(const trace::Summary& summary);
bool has_no_work(const trace::Summary& summary);
// A sentence where no finding is; empty without work.
std::string nothing_found(const trace::Summary& summary);
// The line on what the reader left out; empty: nothing.
std::string skipped_line(const trace::Summary& summary);

// Tables of a step: device work by category, gaps by cause, the longest kernels, what would break a capture; empty ones
// are left out.
std::vector<TextTable> tables_of(const trace::Summary& summary);
std::vector<TextTable> tables_of(const trace::Difference& difference);
std::string difference_line(const trace::Difference& difference);

// The command that shows whether a change helped.
std::string compare_command(const trace::Summary& summary);

// "at most 1.8 of 2.1 ms a step (85 %)"
std::string bound_text(const trace::Advice& advice, const trace::Summary& summary);
// "62 x cudaStreamSynchronize, 3.1 ms"
std::string evidence_text(const trace::Evidence& evidence);

}  // namespace rung::report
