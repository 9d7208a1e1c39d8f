// The folder in which the program keeps what it can make again.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

namespace rung {

// Returns $RUNG_CACHE_DIR, else $XDG_CACHE_HOME/rung, else ~/.cache/rung.
std::string user_cache_folder();

}  // namespace rung
