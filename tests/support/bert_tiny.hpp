// The smallest model of the tests.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

namespace rung {

inline const std::string kBert = std::string(RUNG_TEST_DATA) + "/bert_tiny";

}  // namespace rung
