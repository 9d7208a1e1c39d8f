// Decodes the code that a kernel may reach, and finds what executes each instruction.
// SPDX-License-Identifier: Apache-2.0
#include "amdgpu/program.hpp"

#include "amdgpu/alu.hpp"
#include "amdgpu/decode.hpp"
#include "amdgpu/memory_handlers.hpp"

namespace rung::amdgpu {
namespace {

Handler handler_of(const Instruction& instruction, Target target) {
  if (const Handler handler = alu_handler(instruction, target)) return handler;
  if (const Handler handler = memory_handler(instruction, target)) return handler;
  return matrix_handler(instruction, target);
}

}  // namespace

void Program::append(const Segment& segment, uint64_t base) {
  const uint64_t front = segment.address + base;
  bool gap = false;
  for (size_t at = 0; at + 4 <= segment.data.size();) {
    const uint64_t address = front + at;
    const auto instruction = decode(segment.data.subspan(at), target_);
    if (instruction) {
      index_by_word_[(address - first_) / 4] = static_cast<uint32_t>(instructions_.size());
      instructions_.push_back(*instruction);
      handlers_.push_back(handler_of(*instruction, target_));
      addresses_.push_back(address);
    } else if (!gap) {
      append_end(address);
    }
    gap = !instruction;
    at += instruction ? instruction->bytes : 4;
  }
  append_end(front + segment.data.size() / 4 * 4);
}

// What is reached by running on behind the last instruction before a gap.
void Program::append_end(uint64_t address) {
  instructions_.push_back(Instruction{.bytes = 0});
  handlers_.push_back(nullptr);
  addresses_.push_back(address);
}

Result<Program> Program::make(const CodeObject& object, const KernelInfo& kernel, uint64_t base) {
  Program program;
  program.kernel_ = kernel;
  program.kernel_.entry += base;
  program.target_ = object.target;
  uint64_t first = ~uint64_t{0}, last = 0;
  for (const Segment& segment : object.segments) {
    if (!segment.executable) continue;
    first = std::min(first, segment.address), last = std::max(last, segment.address + segment.data.size());
  }
  if (first >= last) return bad_file("kernel '{}': its code object has no executable segment", kernel.name);
  program.first_ = first + base;
  program.index_by_word_.assign((last - first + 3) / 4, kNone);
  for (const Segment& segment : object.segments)
    if (segment.executable) program.append(segment, base);
  if (program.index_at(program.kernel_.entry) == kNone)
    return bad_file("kernel '{}': no instruction of {} begins at its entry {:#x}", kernel.name,
                    info_of(object.target).name, kernel.entry);
  return program;
}

}  // namespace rung::amdgpu
