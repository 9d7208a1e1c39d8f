// Builds markup in which text cannot inject anything.
// SPDX-License-Identifier: Apache-2.0
#include "report/markup.hpp"

#include "report/format.hpp"

namespace rung::report {

std::string escape(std::string_view text) {
  std::string out;
  for (char c : printable(text)) {
    if (c == '&')
      out += "&amp;";
    else if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '"')
      out += "&quot;";
    else if (c == '\'')
      out += "&#39;";
    else
      out += c;
  }
  return out;
}

Html breakable(std::string_view name) {
  std::string out;
  for (char c : escape(name)) {
    out += c;
    if (c == '.' || c == '/' || c == '_') out += "<wbr>";
  }
  return {out};
}

}  // namespace rung::report
