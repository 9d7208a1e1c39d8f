// Reads a folder of traces: one for each rank, or those of JAX's profiler.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "base/status.hpp"
#include "trace/recording/recording.hpp"

namespace rung::trace {

// Returns the files that are traces, in order. Of JAX's sessions ("plugins/profile/TIME") it takes the last, and for
// each host the file with more data. Errors: a folder with too many files.
Result<std::vector<std::string>> traces_in_folder(const std::string& path,
                                                  const std::function<Result<bool>(const std::string& file)>& is_trace);

// Reads the traces of `path`, at least one, as one recording. Errors: theirs, and traces of different profilers.
Result<Recording> read_together(const std::string& path, const std::vector<std::string>& traces,
                                const std::function<Result<Recording>(const std::string& file)>& read);

}  // namespace rung::trace
