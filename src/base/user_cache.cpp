// Finds the user's cache.
// SPDX-License-Identifier: Apache-2.0
#include "base/user_cache.hpp"

#include <cstdlib>

namespace rung {

std::string user_cache_folder() {
  if (const char* cache = std::getenv("RUNG_CACHE_DIR"); cache && *cache) return cache;
  if (const char* cache = std::getenv("XDG_CACHE_HOME"); cache && *cache) return std::string(cache) + "/rung";
  const char* home = std::getenv("HOME");
  return std::string(home && *home ? home : ".") + "/.cache/rung";
}

}  // namespace rung
