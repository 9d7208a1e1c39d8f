// The ladder as a Markdown page: headline, table of rungs, ablation; for a pull request or a wiki.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "ladder/result.hpp"

namespace rung {

std::string to_markdown(const ClimbResult& result);

}  // namespace rung
