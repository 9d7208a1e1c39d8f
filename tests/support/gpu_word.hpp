// Which GPU the tests run on.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdlib>
#include <string>

namespace rung {

// "cuda", or what RUNG_TEST_GPU says: "hip" has all tests of a GPU run on AMD's.
inline std::string gpu_word() {
  const char* wanted = std::getenv("RUNG_TEST_GPU");
  return wanted && *wanted ? wanted : "cuda";
}

}  // namespace rung
