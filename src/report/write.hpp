// Writes a climb's reports into a folder.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "base/pending_files.hpp"
#include "ladder/result.hpp"

namespace rung {

// Adds report.html, report.json and report.md in the folder, which must exist.
Status add_reports(PendingFiles& files, const ClimbResult& result, const std::string& directory);

}  // namespace rung
