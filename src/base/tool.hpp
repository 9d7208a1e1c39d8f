// The tool `rung`, which work that may crash runs in: found from inside other programs, too.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <string_view>

#include "base/status.hpp"

namespace rung {

// Every error of the tool is one line on standard error that begins with this.
inline constexpr std::string_view kErrorPrefix = "rung: error: ";
// The last such line of what it wrote, without the prefix; empty: there is none.
std::string last_error_line(std::string_view errors);

// Said by the tool's main(): this program is it.
void this_program_is_the_tool();

// In a program that is not the tool: the file that the environment variable RUNG_PROGRAM names; where it is not set,
// `rung`, bin/rung or ../bin/rung beside the shared library (or the program) that this function is in. Errors (file):
// none of these is a program; they are named.
Result<std::string> path_of_tool();

}  // namespace rung
