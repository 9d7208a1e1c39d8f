// Reads bytes of an object that is not in memory.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <functional>

#include "base/status.hpp"

namespace rung {

// Copies bytes from `at` on. Errors say why they could not be read.
using ReadBytes = std::function<Status(size_t at, void* to, size_t bytes)>;

}  // namespace rung
