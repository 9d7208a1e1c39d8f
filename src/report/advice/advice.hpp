// A recording's summary and findings as text for a terminal, as Markdown and as an HTML page.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "trace/difference.hpp"
#include "trace/summary.hpp"

namespace rung {

// Removes control sequences that a terminal would obey from the recording's names. `against`: null, or the comparison.
std::string advice_text(const trace::Summary& summary, const trace::Difference* against);
std::string advice_markdown(const trace::Summary& summary, const trace::Difference* against);
// Returns one HTML page: it needs no network and no other file, and is styled for light, dark and paper.
std::string advice_html(const trace::Summary& summary, const trace::Difference* against);

}  // namespace rung
