// The release of this tree, which is part of plans' and databases' keys.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string_view>

namespace rung {

inline constexpr std::string_view kRungVersion = "0.1.0";

}  // namespace rung
