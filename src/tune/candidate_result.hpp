// The result of tuning one candidate for one problem.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "kernels/choice.hpp"

namespace rung {

struct Candidate {
  KernelChoice choice;
  double us = 0;        // median; 0 when it was not timed
  std::string verdict;  // "chosen", "default", "1.13 x slower", "not supported: k % 32 != 0", "crashed: signal 11"
};

}  // namespace rung
