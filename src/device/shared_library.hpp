// Finds functions of libraries that are opened at run time.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <dlfcn.h>

#include <cstring>
#include <string_view>

#include "base/status.hpp"

namespace rung {

// Sets `to` to a function of an opened library, which `what` names. Errors: the library has no such function.
template <class Pointer>
Status find_function(void* library, std::string_view what, const char* name, Pointer& to) {
  void* symbol = dlsym(library, name);
  if (!symbol) return no_device("{} is too old: it has no {}", what, name);
  std::memcpy(&to, &symbol, sizeof symbol);
  return {};
}

}  // namespace rung
