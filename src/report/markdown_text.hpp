// Escapes text inside Markdown.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <string_view>

namespace rung::report {

// Returns text that Markdown and HTML show unchanged, in a table cell too.
std::string markdown_text(std::string_view text);

}  // namespace rung::report
