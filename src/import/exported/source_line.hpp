// The place in the author's code that an exported node comes from.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

namespace rung::exported {

// Returns "modeling_bert.py:665" of the innermost frame of a Python stack trace; empty: there is no frame in it.
std::string source_line(const std::string& trace);

}  // namespace rung::exported
