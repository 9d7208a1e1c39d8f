// The text header of numpy's .npy format: element type, order and shape as a Python dictionary.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.hpp"

namespace rung {

struct NpyHeader {
  std::string descr;  // "<f4"
  bool fortran_order = false;
  std::vector<uint64_t> shape;
};

// Parses `text`, the dictionary with its trailing spaces and newline. It has exactly the keys descr, fortran_order and
// shape, each once.
Result<NpyHeader> parse_npy_header(std::string_view text);
// Returns magic, version 1.0, length and dictionary, padded to a multiple of 64 bytes.
std::string make_npy_header(const NpyHeader& header);

}  // namespace rung
