// Reads a profiler's file of any known format into a Recording.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "base/status.hpp"
#include "trace/recording/recording.hpp"

namespace rung::trace {

// Detects the format by the content, not by the name; errors name the file, what was found and what was wanted.
Result<Recording> read_recording(const std::string& path);

// Names all devices after this card, when the caller knows it.
void name_all_devices(Recording& recording, const std::string& card);

}  // namespace rung::trace
