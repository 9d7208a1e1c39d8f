// A kernel's code, decoded once and run many times: its instructions in order, and which stands at which address.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "amdgpu/code_object.hpp"
#include "amdgpu/instruction.hpp"

namespace rung::amdgpu {

struct Wave;
using Handler = void (*)(Wave&, const Instruction&);

class Program {
 public:
  // All code of the object's executable segments is decoded, for a kernel may call what is not its own; what does not
  // decode is left out, and a finding if it is reached: an instruction of 0 bytes without a handler stands for it.
  // `base` is added to the object's addresses, and kernel().entry: where it is loaded.
  // Errors (ErrorKind::file): no code, or none at the kernel's entry.
  static Result<Program> make(const CodeObject& object, const KernelInfo& kernel, uint64_t base);
  const KernelInfo& kernel() const { return kernel_; }
  Target target() const { return target_; }
  std::span<const Instruction> instructions() const { return instructions_; }
  std::span<const Handler> handlers() const { return handlers_; }  // null: not executed here
  uint64_t address_of(size_t index) const { return addresses_[index]; }
  // The index of the instruction that begins there; kNone where none does.
  static constexpr uint32_t kNone = ~uint32_t{0};
  uint32_t index_at(uint64_t address) const {
    const uint64_t word = (address - first_) / 4;
    return word < index_by_word_.size() && address % 4 == 0 ? index_by_word_[word] : kNone;
  }

 private:
  void append(const Segment& segment, uint64_t base);
  void append_end(uint64_t address);

  KernelInfo kernel_;
  Target target_{};
  uint64_t first_ = 0;
  std::vector<Instruction> instructions_;
  std::vector<Handler> handlers_;
  std::vector<uint64_t> addresses_;
  std::vector<uint32_t> index_by_word_;
};

}  // namespace rung::amdgpu
