// Errors of the C interface, one per thread.
// SPDX-License-Identifier: Apache-2.0
#include "api/answer.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <string_view>

#include "base/version.hpp"

namespace rung {
namespace {

// The line is held in place: reporting an error then takes no memory, the lack of which may be the error.
struct LastError {
  std::array<char, 2048> line{};  // a longer line is cut
};

LastError& last_error() {
  thread_local LastError last;
  return last;
}

constexpr std::array<const char*, 8> kStatusNames{"ok",     "failed", "usage",    "file",
                                                  "device", "memory", "mismatch", "interrupted"};

rung_status status_of(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::failed:
      return RUNG_FAILED;
    case ErrorKind::usage:
      return RUNG_USAGE;
    case ErrorKind::file:
      return RUNG_FILE;
    case ErrorKind::mismatch:
      return RUNG_MISMATCH;
    case ErrorKind::memory:
      return RUNG_MEMORY;
    case ErrorKind::device:
    case ErrorKind::device_fault:
      return RUNG_DEVICE;
    case ErrorKind::interrupted:
      return RUNG_INTERRUPTED;
  }
  return RUNG_FAILED;
}

}  // namespace

rung_status tell(const Error& error) noexcept {
  const bool told = !error.message.empty();  // else there was no memory for its text
  const std::string_view message = told ? std::string_view(error.message) : "out of memory";
  auto& line = last_error().line;
  line[message.copy(line.data(), line.size() - 1)] = '\0';
  return told ? status_of(error.kind) : RUNG_MEMORY;
}

Status check_size(size_t got, size_t first, size_t known, const void* options, const char* name) {
  if (got < first) return wrong_usage("got {} of {} bytes, wanted {}: start from its initialiser", name, got, known);
  if (got <= known) return {};
  const auto* bytes = static_cast<const unsigned char*>(options);
  if (std::any_of(bytes + known, bytes + got, [](unsigned char byte) { return byte != 0; }))
    return wrong_usage("got {} with members that this version of rung, {}, does not know", name, kRungVersion);
  return {};
}

char* copy_of(const std::string& text) {
  char* copy = new char[text.size() + 1];
  std::memcpy(copy, text.c_str(), text.size() + 1);
  return copy;
}

}  // namespace rung

uint32_t rung_interface_version(void) { return RUNG_INTERFACE_VERSION; }
const char* rung_version(void) { return rung::kRungVersion.data(); }
const char* rung_error(void) { return rung::last_error().line.data(); }

const char* rung_status_name(rung_status status) {
  const auto index = static_cast<size_t>(status);
  return index < rung::kStatusNames.size() ? rung::kStatusNames[index] : "unknown";
}
