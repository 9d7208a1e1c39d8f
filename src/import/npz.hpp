// numpy's .npz files (named arrays in a zip archive): the inputs and outputs of models.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <functional>
#include <map>
#include <span>
#include <string>

#include "base/status.hpp"
#include "ir/tensor.hpp"

namespace rung {

// Judges an array by its header, before more is unpacked: true to read it, false to leave it out.
using WantsArray = std::function<Result<bool>(const std::string& name, const Type& type)>;

// Reads little-endian f2, f4, f8 (rounded to f32), i1, u1, i4, i8 and b1, in C or Fortran order, stored or deflated.
// Before memory is taken for an array, its size is compared with what the file holds, and it must please `wants` (none:
// all that fits kMaxArchiveBytes). Errors name the file and the array.
Result<NamedTensors> read_npz(const std::string& path, const WantsArray& wants = {});
Result<NamedTensors> parse_npz(std::span<const std::byte> file, const std::string& path, const WantsArray& wants = {});
// Reads types by name, from the headers alone; f8 counts as f32.
Result<std::map<std::string, Type>> read_npz_types(const std::string& path);

// Writes the file whole or not at all. bf16 has no numpy type and is written as f32.
Status write_npz(const std::string& path, const NamedTensors& arrays);

}  // namespace rung
