// Reads numbers of a trace from a JSON number or a string with a number.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

namespace rung::trace {

// Read whole numbers only.
std::optional<int64_t> integer_of(std::string_view json);
std::optional<uint64_t> unsigned_of(std::string_view json);
// Converts microseconds, with a fraction or an exponent, to the nearest nanoseconds: a double would lose them in times
// since 1970. None: no number, not finite, or beyond 100 years.
std::optional<int64_t> ns_of_us(std::string_view json);

}  // namespace rung::trace
