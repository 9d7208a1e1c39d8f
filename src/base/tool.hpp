// The tool `rung`, in which work that may crash runs: other programs find it, too.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <string_view>

#include "base/status.hpp"

namespace rung {

// Every error of the tool is one line on standard error that begins with this.
inline constexpr std::string_view kErrorPrefix = "rung: error: ";
// Returns the last such line of a program's errors, without the prefix; empty: there is none.
std::string last_error_line(std::string_view errors);

// Tells the library that this program is the tool; the tool's main() calls it.
void this_program_is_the_tool();

// Returns the tool's path. In a program that is not the tool it is the file that the environment variable RUNG_PROGRAM
// names; if unset, `rung`, bin/rung or ../bin/rung beside the shared library (or the program) that this function is in.
// Errors (file): none of these is a program; they are named.
Result<std::string> path_of_tool();

}  // namespace rung
