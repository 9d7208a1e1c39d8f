// A code object in the memory of the emulator: its segments copied, its relocations applied.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>

#include "amdgpu/code/code_object.hpp"
#include "amdgpu/run/memory.hpp"

namespace rung::amdgpu {

class Image {
 public:
  // `memory` must outlive the image. Errors: the system has too little memory.
  static Result<std::unique_ptr<Image>> load(const CodeObject& object, Memory& memory);
  ~Image();
  Image(const Image&) = delete;
  Image& operator=(const Image&) = delete;
  uint64_t base() const;  // is added to the object's addresses

 private:
  Image(const CodeObject& object, Memory& memory);
  std::byte* at(uint64_t address) const { return bytes_.get() + (address - first_); }
  Memory& memory_;
  struct Free {
    void operator()(std::byte* bytes) const;
  };
  std::unique_ptr<std::byte, Free> bytes_;
  uint64_t first_ = 0;  // address of the first segment, rounded down to a page
  std::vector<uint64_t> lent_;
};

}  // namespace rung::amdgpu
