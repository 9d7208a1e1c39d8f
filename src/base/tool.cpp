// Looks where the tool is installed with the library.
// SPDX-License-Identifier: Apache-2.0
#include "base/tool.hpp"

#include <dlfcn.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>

#include "base/program.hpp"

namespace rung {
namespace {

namespace fs = std::filesystem;

std::atomic<bool> g_is_the_tool{false};

constexpr std::string_view kVariable = "RUNG_PROGRAM";

bool is_program(const fs::path& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored) && ::access(path.c_str(), X_OK) == 0;
}

// Returns the folder of the shared object that this code was loaded from. A program's own name may have been searched
// for in PATH.
fs::path own_folder() {
  Dl_info info{};
  std::error_code error;
  fs::path file;
  if (dladdr(reinterpret_cast<const void*>(&path_of_tool), &info) != 0 && info.dli_fname)
    file = fs::canonical(info.dli_fname, error);
  if (file.empty() || error) file = fs::read_symlink(kThisProgram, error);
  return file.parent_path();
}

}  // namespace

std::string last_error_line(std::string_view errors) {
  const size_t at = errors.rfind(kErrorPrefix);
  if (at == std::string_view::npos) return "";
  errors.remove_prefix(at + kErrorPrefix.size());
  return std::string(errors.substr(0, errors.find('\n')));
}

void this_program_is_the_tool() { g_is_the_tool = true; }

Result<std::string> path_of_tool() {
  if (g_is_the_tool) return kThisProgram;
  if (const char* named = std::getenv(kVariable.data()); named && *named) {
    if (is_program(named)) return named;
    return bad_file("the tool 'rung': {} names '{}', which is not a program", kVariable, named);
  }
  const fs::path folder = own_folder();
  std::string tried;
  for (const char* place : {"rung", "bin/rung", "../bin/rung"}) {
    const fs::path path = (folder / place).lexically_normal();
    if (is_program(path)) return path.string();
    tried += fmt::format("{}'{}'", tried.empty() ? "" : ", ", path.string());
  }
  return bad_file("the tool 'rung' is not at {}; {} may name it", tried, kVariable);
}

}  // namespace rung
