// A recording's summary and findings as text for a terminal, as Markdown and as an HTML page.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "advise/difference.hpp"
#include "advise/summary.hpp"

namespace rung {

// Nothing in it is what a terminal would obey, whatever names the recording holds. `against`: null, or the comparison.
std::string advice_text(const advise::Summary& summary, const advise::Difference* against);
std::string advice_markdown(const advise::Summary& summary, const advise::Difference* against);
// One HTML page: no network, no other file, light, dark and on paper.
std::string advice_html(const advise::Summary& summary, const advise::Difference* against);

}  // namespace rung
