// Writing a whole file or nothing: a temporary beside the target, synced, then renamed over it.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <ostream>
#include <string>
#include <string_view>

#include "base/status.hpp"

namespace rung {

// Errors: unwritable folder, full disk; the target keeps its old content and no temporary is left behind.
Status write_file_atomically(const std::string& path, std::string_view content);
// The same for content too large to hold: `write` fills the stream.
Status write_file_atomically(const std::string& path, const std::function<void(std::ostream&)>& write);
// Errors: missing, unreadable, or more than `limit` bytes.
Result<std::string> read_text_file(const std::string& path, size_t limit = size_t{1} << 30);

}  // namespace rung
