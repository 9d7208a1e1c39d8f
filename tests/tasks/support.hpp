// What the tests of tasks have in common.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

namespace rung::tasks {

inline const std::string kBert = std::string(RUNG_TEST_DATA) + "/bert_tiny";

}  // namespace rung::tasks
