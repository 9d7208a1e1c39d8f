// A copy of a decoder's test checkpoint whose texts may have more tokens than the 32 of the published one's.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "base/atomic_file.hpp"
#include "support/temporary_directory.hpp"

namespace rung {

// Writes the copy into a folder of that name, and returns its path.
inline std::string longer_checkpoint(const TemporaryDirectory& folder, const std::string& name, int64_t positions) {
  const std::string from = std::string(RUNG_TEST_DATA) + "/checkpoints/" + name, to = folder / name;
  const std::string field = "\"max_position_embeddings\": ";
  std::filesystem::create_directory(to);
  for (const auto& file : std::filesystem::directory_iterator(from))
    std::filesystem::copy(file, to, std::filesystem::copy_options::overwrite_existing);
  std::string config = read_text_file(from + "/config.json").value_or("");
  const size_t at = config.find(field + "32");
  EXPECT_NE(at, std::string::npos) << config;
  if (at != std::string::npos) config.replace(at + field.size(), 2, std::to_string(positions));
  folder.write(name + "/config.json", config);
  return to;
}

}  // namespace rung
