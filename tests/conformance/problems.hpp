// The problems that every kernel row is tried on: graphs whose one output is the op under test.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rung::test {

// Operands that are views reach the kernel as strides. An input's values follow from its name: "w..." are constants,
// which a kernel may pack; "positive..." are above 0.1; "nonzero..." keep away from 0; "index..." lie in [0, 3);
// "length20" is 20; "mask..." are 0 or -1e9; "keep..." are 0 or 1; "bytes..." and "wbytes..." lie in [-127, 127];
// "wpairs..." are any bytes.
std::vector<std::string> problems();
// Those of them that follow from the tables of functions.
std::vector<std::string> function_problems();
// Those of them that are products whose rows are no multiple of what a machine loads at once.
std::vector<std::string> ragged_problems();
// Those of floats of 8 bits.
std::vector<std::string> f8_problems();
// Those of rows in i8 with scales.
std::vector<std::string> byte_problems();
// Those of a few rows and weights that stream.
std::vector<std::string> streamed_problems();
// Those of attention over caches, with T in the place of their type.
std::span<const char* const> cache_problems();
// The same with caches of that type.
std::vector<std::string> narrow_cache_problems(const std::string& type);
// Those over windows, with T in the place of their type.
std::span<const char* const> window_problems();
// Those of sampling, with T in the place of their type, and the numbers that their inputs "settings..." have.
std::span<const char* const> sampling_problems();
double setting_of(std::string_view input, uint64_t i);

}  // namespace rung::test
