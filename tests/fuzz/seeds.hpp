// Gives a fuzz target valid inputs to start from: written into its corpus folder when that is empty.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace rung {

// Call from LLVMFuzzerInitialize: the first argument that names a folder is the corpus.
inline void write_seeds(int argc, char** argv, const std::vector<std::string>& seeds) {
  for (int i = 1; i < argc; ++i) {
    std::filesystem::path folder = argv[i];
    if (!std::filesystem::is_directory(folder)) continue;
    if (!std::filesystem::is_empty(folder)) return;
    for (size_t n = 0; n < seeds.size(); ++n)
      std::ofstream(folder / ("seed" + std::to_string(n)), std::ios::binary) << seeds[n];
    return;
  }
}

// Ends the run with a finding, also where assertions are compiled out.
inline void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "violated: %s\n", what);
  std::abort();
}

}  // namespace rung
