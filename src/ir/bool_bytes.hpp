// Bools in memory: a byte each, 0 or 1. Kernels count and multiply with them, so that another byte would give a wrong
// result silently; it is refused wherever values come in.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <string>

#include "base/status.hpp"
#include "ir/tensor.hpp"

namespace rung {

// Returns the first byte that is no bool, or 0. Reads tens of gigabytes a second.
unsigned first_non_bool(const std::byte* values, size_t count);

// Checks values of any type; only bools can fail. Errors (mismatch): `what`, such as "input 'mask'", and the byte.
// Takes no memory unless it fails.
Status check_bools(std::string_view what, std::string_view name, const Type& type, const std::byte* values);

}  // namespace rung
