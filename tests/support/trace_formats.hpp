// The program that tests/traces/formats tells, in each format that it is written in.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

#include "support/made_database.hpp"
#include "support/temporary_directory.hpp"
#include "trace/recording/read.hpp"

namespace rung {

inline std::string told_program(std::string_view file) { return RUNG_TEST_DATA "/traces/formats/" + std::string(file); }

inline std::string content_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Databases are kept as the statements that make them.
inline Result<trace::Recording> read_told_program(std::string_view file) {
  if (!file.ends_with(".sql")) return trace::read_recording(told_program(file));
  const TemporaryDirectory folder;
  make_database(folder / "x.sqlite", content_of(told_program(file)));
  return trace::read_recording(folder / "x.sqlite");
}

}  // namespace rung
