// Numbers of a trace, from a JSON number or a string that holds one.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

namespace rung::trace {

// Whole numbers only.
std::optional<int64_t> integer_of(std::string_view json);
std::optional<uint64_t> unsigned_of(std::string_view json);
// Microseconds, with a fraction or an exponent -> nanoseconds, the nearest: a double would lose them in times since
// 1970. Nothing: no number, not finite, or beyond 100 years.
std::optional<int64_t> ns_of_us(std::string_view json);

}  // namespace rung::trace
