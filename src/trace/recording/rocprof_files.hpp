// Which CSV files of rocprofv3 belong together: each process writes one for every kind of thing that was traced.
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

// The files of a folder (and of folders in it), by process; or of the process that the file is of. A file whose name is
// none of rocprofv3's is alone. Errors: a folder with too many entries.
Result<std::vector<ProcessFiles>> rocprofv3_files(const std::string& path, bool folder);

}  // namespace rung::trace
