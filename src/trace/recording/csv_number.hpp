// Reads whole numbers as profilers write them, and as spreadsheets of any language save them again.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

namespace rung::trace {

// Reads "8819330200067564", "8.819.330,6" and "8,819,330.6" (rounded), " 12 ". None: no number, beyond 64 bits, or with
// an exponent, which loses digits.
std::optional<int64_t> whole_number(std::string_view text);

}  // namespace rung::trace
