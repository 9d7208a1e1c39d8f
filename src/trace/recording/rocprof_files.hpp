// Groups CSV files of rocprofv3 by process: each process writes one for every kind of data traced.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

#include "base/status.hpp"

namespace rung::trace {

// Files of one process, in the order in which they are read.
struct ProcessFiles {
  std::vector<std::string> others;  // agents, then calls, then work
  std::vector<std::string> inner;   // calls of HSA
};

// Returns the files of a folder (and its subfolders) by process, or those of the file's process. A file whose name is
// not rocprofv3's forms a group of its own. Errors: a folder with too many entries.
Result<std::vector<ProcessFiles>> rocprofv3_files(const std::string& path, bool folder);

}  // namespace rung::trace
