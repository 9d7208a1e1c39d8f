// Writes a climb's result as one HTML page: it needs no network and no other file; light, dark and on paper.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "ladder/result.hpp"

namespace rung {

std::string render_html(const ClimbResult& result);

}  // namespace rung
