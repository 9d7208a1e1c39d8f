// The code of a code object, decoded once and run many times, and programs: kernels that begin in it.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "amdgpu/code/code_object.hpp"
#include "amdgpu/run/handler.hpp"

namespace rung::amdgpu {

class DecodedCode {
 public:
  // Decodes all of the object's executable segments, as a kernel may call code outside its own. Bytes that do not
  // decode become an instruction of 0 bytes, which is a defect if it is reached.
  // `base`: the address where the object is loaded, added to its addresses. Errors (ErrorKind::file): there is no code.
  static Result<std::shared_ptr<const DecodedCode>> make(const CodeObject& object, uint64_t base);
  Isa isa() const { return isa_; }
  uint64_t base() const { return base_; }
  std::span<const Instruction> instructions() const { return instructions_; }
  std::span<const Handler> handlers() const { return handlers_; }  // if it is not executed here: one that says so
  uint64_t address_of(size_t index) const { return addresses_[index]; }
  // Returns the index of the instruction that begins there; kNone if none does.
  static constexpr uint32_t kNone = ~uint32_t{0};
  uint32_t index_at(uint64_t address) const {
    const uint64_t word = (address - first_) / 4;
    return word < index_by_word_.size() && address % 4 == 0 ? index_by_word_[word] : kNone;
  }

 private:
  void append(const Segment& segment);
  void append(const Instruction& instruction, uint64_t address);

  Isa isa_{};
  uint64_t base_ = 0, first_ = 0;
  std::vector<Instruction> instructions_;
  std::vector<Handler> handlers_;
  std::vector<uint64_t> addresses_;
  std::vector<uint32_t> index_by_word_;
};

class Program {
 public:
  // kernel().entry is the loaded address. Errors (ErrorKind::file): no instruction at its entry.
  static Result<Program> make(std::shared_ptr<const DecodedCode> code, const KernelInfo& kernel);
  const DecodedCode& code() const { return *code_; }
  const KernelInfo& kernel() const { return kernel_; }
  uint32_t entry() const { return entry_; }  // the index of its first instruction

 private:
  std::shared_ptr<const DecodedCode> code_;
  KernelInfo kernel_;
  uint32_t entry_ = 0;
};

}  // namespace rung::amdgpu
