// Copies what the checks read into a folder, without what tells whose machine it is.
// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <filesystem>

#include "advise/knob.hpp"
#include "advise/snapshot.hpp"
#include "base/atomic_file.hpp"

namespace rung::advise {
namespace {

constexpr std::string_view kLeftOut = "left-out";

std::string host_name() {
  std::array<char, 256> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

bool has_address(std::string_view value) {
  const auto numbers = parts(value, '.');
  size_t run = 0;
  for (const std::string_view number : numbers)
    if (!number.empty() && std::isdigit(static_cast<unsigned char>(number.back())) != 0 && ++run == 4) return true;
  return value.find("::") != value.npos;
}

// May the value tell a user, a host, an address or a secret? Paths do: home folders carry names.
bool tells_whose(std::string_view name, std::string_view value) {
  for (const std::string_view word :
       {"KEY", "TOKEN", "SECRET", "PASSWORD", "HOST", "ADDR", "_IP", "URL", "IFNAME", "COMM_ID"})
    if (name.find(word) != name.npos) return true;
  if (value.find_first_of("/@\\~") != value.npos || has_address(value)) return true;
  const char* user = getenv("USER");
  for (const std::string& own : {host_name(), std::string(user ? user : "")})
    if (own.size() > 2 && value.find(own) != value.npos) return true;
  return false;
}

Status write(const std::string& path, std::string_view content) {
  std::error_code error;
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), error);
  if (error) return bad_file("'{}': {}", path, error.message());
  return write_file_atomically(path, content);
}

}  // namespace

Result<Captured> capture(const Snapshot& machine, const std::string& folder) {
  std::error_code error;
  if (std::filesystem::exists(folder, error) && !std::filesystem::is_empty(folder, error))
    return bad_file("'{}': wanted a new or empty folder", folder);
  Captured captured;
  std::string environment;
  for (const auto& [name, value] : machine.environment()) {
    if (!find_knob(name) && !has_known_prefix(name)) continue;
    const bool left_out = tells_whose(name, value) || value.find('\n') != value.npos;
    environment += name + "=" + (left_out ? std::string(kLeftOut) : value) + "\n";
    ++captured.variables;
    captured.values_left_out += left_out ? 1 : 0;
  }
  RUNG_CHECK(write(folder + "/environment", environment));
  for (const CapturedFile& file : captured_files())
    for (const std::string& path : machine.matches(file.pattern)) {
      RUNG_CHECK(write(folder + "/" + path, *machine.read(path) + "\n"));
      ++captured.files;
    }
  return captured;
}

}  // namespace rung::advise
