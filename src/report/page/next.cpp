// The section on next steps, with commands to copy.
// SPDX-License-Identifier: Apache-2.0
#include "report/next_steps.hpp"
#include "report/page/sections.hpp"

namespace rung::report {

Html next(const ClimbResult& result) {
  return section("next", "What next", "Each line follows from this climb; commands are to be copied as they stand.",
                 each(next_steps(result), [](const NextStep& step) {
                   return html("<h3 class='step'>{}</h3><p>{}</p>{}", step.title, step.why,
                               each(step.commands, [](const std::string& c) { return command_block(c); }));
                 }));
}

}  // namespace rung::report
