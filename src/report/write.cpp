// Leaves a climb's reports in a folder.
// SPDX-License-Identifier: Apache-2.0
#include "report/write.hpp"

#include "base/atomic_file.hpp"
#include "report/html.hpp"
#include "report/json.hpp"
#include "report/markdown.hpp"

namespace rung {

Status write_reports(const ClimbResult& result, const std::string& directory) {
  RUNG_CHECK(write_file_atomically(directory + "/report.json", json_text(result) + "\n"));
  RUNG_CHECK(write_file_atomically(directory + "/report.md", to_markdown(result)));
  return write_file_atomically(directory + "/report.html", render_html(result));
}

}  // namespace rung
