// The parts of the HTML page, one function and one file each; a part with nothing to say is empty.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ladder/result.hpp"
#include "report/markup.hpp"

namespace rung::report {

Html next(const ClimbResult& result);        // next steps, with commands
Html headline(const ClimbResult& result);    // times before and after, distance to the floor, and the verdict
Html ladder(const ClimbResult& result);      // every rung's step
Html receipts(const ClimbResult& result);    // each rung's effect, in words
Html ablation(const ClimbResult& result);    // each rung's worth in the final plan
Html precision(const ClimbResult& result);   // plans within a stated error, and their parts
Html categories(const ClimbResult& result);  // kinds of work in per cent
Html stages(const ClimbResult& result);      // time left in each part of the model
Html ops(const ClimbResult& result);         // every problem against its floor
Html roofline(const ClimbResult& result);
Html choices(const ClimbResult& result);  // candidates tried for each problem, and the reason for the choice
Html latency(const ClimbResult& result);  // median and tail, warm and cold
Html machine(const ClimbResult& result);  // environment, peaks, memory
Html reproduce(const ClimbResult& result);

std::string_view style_sheet();
std::string_view script();
Html hatch_pattern();  // the fill of rejected steps; the style sheet refers to it

// Returns a command to copy in a block of its own, to which the page's script adds a button.
Html command_block(std::string_view text);
// Returns links to the sections of `body`, by their headings.
Html contents(const Html& body);
// Returns a page of these parts. It may load nothing at all, whatever text it holds.
std::string whole_page(std::string_view title, const Html& body);
// Returns a <section> with its heading and one sentence on how to read it.
Html section(std::string_view id, std::string_view title, std::string_view how_to_read, const Html& content);
// Returns a column heading that sorts its table when clicked.
Html sortable(std::string_view title, std::string_view css = "number");
std::string_view category_class(Category category);  // "c0" ... "c6"

}  // namespace rung::report
