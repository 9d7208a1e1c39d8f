// Machine code that this process may execute: memory that is written first and executed afterwards, never both at once.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <memory>
#include <span>

#include "base/verdict.hpp"
#include "kernels/generated/region_body.hpp"

namespace rung::generated {

// Computes `rows` rows, at least one, of `elements` elements each, which is not read where the code is for one number.
// `addresses`: of the operands, then of the results; the function moves them on from row to row by `row_bytes`, one
// number for each.
using Function = void (*)(void** addresses, int64_t elements, int64_t rows, const int64_t* row_bytes);

class Code {
 public:
  // Null: the memory could not be had, or may not be executed.
  static std::shared_ptr<const Code> make(std::span<const uint8_t> instructions);
  ~Code();
  Code(const Code&) = delete;
  Code& operator=(const Code&) = delete;
  Function function() const;
  size_t bytes() const { return bytes_; }

 private:
  Code(void* memory, size_t bytes) : memory_(memory), bytes_(bytes) {}
  void* memory_;
  size_t bytes_;
};

// Whether this process may make memory executable, asked once.
Verdict may_execute();

// Returns the code of a body; bodies that are equal share it as long as one holder lives. `same`: by operand, whether
// it has one value for all elements. Throws std::bad_alloc.
std::shared_ptr<const Code> code_of(VectorSet set, const Body& body, const std::vector<bool>& same);
// Returns the code of a region, shared likewise.
std::shared_ptr<const Code> code_of(VectorSet set, const RegionBody& region);

}  // namespace rung::generated
