// Escapes text inside Markdown.
// SPDX-License-Identifier: Apache-2.0
#include "report/markdown_text.hpp"

#include "report/format.hpp"

namespace rung::report {

std::string markdown_text(std::string_view text) {
  std::string out;
  for (char c : printable(text)) {
    if (c == '<')
      out += "&lt;";
    else if (c == '&')
      out += "&amp;";
    else if (std::string_view("\\`*_{}[]#|~$!").find(c) != std::string_view::npos)
      out += std::string("\\") + c;
    else
      out += c;
  }
  return out;
}

}  // namespace rung::report
