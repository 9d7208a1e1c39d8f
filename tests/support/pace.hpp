// Time limits of tests, longer where a sanitizer slows everything that must happen within them.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

namespace rung {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr int kPace = 8;
#else
constexpr int kPace = 1;
#endif

// A value for --budget.
inline std::string budget(int seconds) { return std::to_string(seconds * kPace) + "s"; }

}  // namespace rung
