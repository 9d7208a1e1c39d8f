// Parses MessagePack as far as the notes of code objects use it.
// SPDX-License-Identifier: Apache-2.0
// Source: the MessagePack specification (github.com/msgpack/msgpack, spec.md).
#pragma once
#include <cstddef>
#include <nlohmann/json.hpp>
#include <span>

#include "base/status.hpp"

namespace rung::amdgpu {

// Reads nil, booleans, integers, strings, arrays, and maps with strings as keys. Errors, each with its place: bytes
// that end early or are left over, another kind of value, a key twice, arrays and maps more than 16 deep.
Result<nlohmann::json> parse_msgpack(std::span<const std::byte> bytes);

}  // namespace rung::amdgpu
