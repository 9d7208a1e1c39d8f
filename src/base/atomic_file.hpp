// A whole file at once: written or left as it was, read within a limit.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <string_view>

#include "base/limits.hpp"
#include "base/pending_files.hpp"
#include "base/status.hpp"

namespace rung {

// Writes one file by PendingFiles. Errors: unwritable folder, full disk; the target keeps its old content.
Status write_file_atomically(const std::string& path, std::string_view content);
// Does the same for content too large to hold: `write` fills the stream.
Status write_file_atomically(const std::string& path, const WriteContent& write);
// Reads a whole file. Errors: missing, unreadable, not a regular file, or more than `limit` bytes.
Result<std::string> read_text_file(const std::string& path, size_t limit = kMaxTextBytes);

}  // namespace rung
