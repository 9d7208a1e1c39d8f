// Reads the innermost frame of a stack trace.
// SPDX-License-Identifier: Apache-2.0
#include "import/exported/source_line.hpp"

#include <string_view>

namespace rung::exported {

std::string source_line(const std::string& trace) {
  constexpr std::string_view kFile = "File \"", kLine = "\", line ";
  const size_t file = trace.rfind(kFile);
  const size_t line = trace.find(kLine, file);
  if (file == trace.npos || line == trace.npos) return "";
  const std::string path = trace.substr(file + kFile.size(), line - file - kFile.size());
  const size_t digits = line + kLine.size(), end = trace.find_first_not_of("0123456789", digits);
  return path.substr(path.rfind('/') + 1) + ":" + trace.substr(digits, end == trace.npos ? end : end - digits);
}

}  // namespace rung::exported
