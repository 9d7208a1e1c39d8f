// Machine code that this process may execute: memory that is written first and executed afterwards, never both at once.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <memory>
#include <span>

#include "base/verdict.hpp"
#include "kernels/generated/primitives.hpp"

namespace rung::generated {

// Addresses of the operands, then of the results; then the elements.
using Function = void (*)(void* const* addresses, int64_t elements);

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
// it has one value for all elements. Null: as above.
std::shared_ptr<const Code> code_of(VectorSet set, const Body& body, const std::vector<bool>& same);

}  // namespace rung::generated
