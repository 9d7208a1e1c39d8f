// The words in which importers of graphs refuse operators that they do not know.
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace rung::exported {

inline constexpr const char* kDrawsRandomNumbers = "it draws random numbers: make them an input of the model";
inline constexpr const char* kNoImport = "there is no import of this operator";

}  // namespace rung::exported
