// Leaves a climb's reports in a folder.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "base/status.hpp"
#include "ladder/result.hpp"

namespace rung {

// report.html, report.json and report.md, each whole or not at all. The folder must exist.
Status write_reports(const ClimbResult& result, const std::string& directory);

}  // namespace rung
