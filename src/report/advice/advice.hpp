// A recording's summary and findings as text for a terminal, as Markdown and as an HTML page.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "trace/difference.hpp"
#include "trace/summary.hpp"

namespace rung {

// Nothing in it is what a terminal would obey, whatever names the recording holds. `against`: null, or the comparison.
std::string advice_text(const trace::Summary& summary, const trace::Difference* against);
std::string advice_markdown(const trace::Summary& summary, const trace::Difference* against);
// One HTML page: no network, no other file, light, dark and on paper.
std::string advice_html(const trace::Summary& summary, const trace::Difference* against);

}  // namespace rung
