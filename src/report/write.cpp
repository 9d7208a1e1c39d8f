// Writes a climb's reports into a folder.
// SPDX-License-Identifier: Apache-2.0
#include "report/write.hpp"

#include "report/html.hpp"
#include "report/json.hpp"
#include "report/markdown.hpp"

namespace rung {

Status add_reports(PendingFiles& files, const ClimbResult& result, const std::string& directory) {
  RUNG_CHECK(files.add(directory + "/report.json", json_text(result) + "\n"));
  RUNG_CHECK(files.add(directory + "/report.md", to_markdown(result)));
  return files.add(directory + "/report.html", render_html(result));
}

}  // namespace rung
