// Verdict: yes, or no with the reason; what every "can this be used here?" question answers.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <utility>

namespace rung {

struct Verdict {
  bool yes = false;
  std::string reason;  // why not; optionally why, if yes
  explicit operator bool() const { return yes; }
};

inline Verdict accept(std::string reason = {}) { return {true, std::move(reason)}; }
inline Verdict reject(std::string reason) { return {false, std::move(reason)}; }

}  // namespace rung
