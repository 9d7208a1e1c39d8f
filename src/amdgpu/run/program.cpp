// Decodes the code that kernels may reach, and finds the handler of each instruction.
// SPDX-License-Identifier: Apache-2.0
#include "amdgpu/run/program.hpp"

#include <algorithm>

#include "amdgpu/isa/decode.hpp"
#include "amdgpu/run/access/memory_handlers.hpp"
#include "amdgpu/run/alu/alu.hpp"
#include "amdgpu/run/wave.hpp"

namespace rung::amdgpu {
namespace {

// The handler of instructions that have none.
void not_executed(Wave& wave, const Instruction& instruction) {
  wave.fail(DefectKind::bad_instruction, instruction, -1,
            instruction.bytes == 0 ? "there is no instruction" : "it is not executed here");
}

Handler handler_of(const Instruction& instruction, Isa isa) {
  if (instruction.bytes == 0) return not_executed;
  if (const Handler handler = alu_handler(instruction, isa)) return handler;
  if (const Handler handler = memory_handler(instruction, isa)) return handler;
  const Handler handler = matrix_handler(instruction, isa);
  return handler != nullptr ? handler : not_executed;
}

}  // namespace

void DecodedCode::append(const Instruction& instruction, uint64_t address) {
  instructions_.push_back(instruction);
  handlers_.push_back(handler_of(instruction, isa_));
  addresses_.push_back(address);
}

// Appends a segment. An instruction of 0 bytes stands at each gap and at the end, for waves that run on to there.
void DecodedCode::append(const Segment& segment) {
  const uint64_t front = segment.address + base_;
  bool gap = false;
  for (size_t at = 0; at + 4 <= segment.data.size();) {
    const uint64_t address = front + at;
    const auto instruction = decode(segment.data.subspan(at), isa_);
    if (instruction) {
      index_by_word_[(address - first_) / 4] = static_cast<uint32_t>(instructions_.size());
      append(*instruction, address);
    } else if (!gap) {
      append(Instruction{.bytes = 0}, address);
    }
    gap = !instruction;
    at += instruction ? instruction->bytes : 4;
  }
  append(Instruction{.bytes = 0}, front + segment.data.size() / 4 * 4);
}

Result<std::shared_ptr<const DecodedCode>> DecodedCode::make(const CodeObject& object, uint64_t base) {
  auto code = std::make_shared<DecodedCode>();
  code->isa_ = object.isa;
  code->base_ = base;
  uint64_t first = ~uint64_t{0}, last = 0;
  for (const Segment& segment : object.segments) {
    if (!segment.executable) continue;
    first = std::min(first, segment.address), last = std::max(last, segment.address + segment.data.size());
  }
  if (first >= last) return bad_file("the code object has no executable segment");
  code->first_ = first + base;
  code->index_by_word_.assign((last - first + 3) / 4, kNone);
  for (const Segment& segment : object.segments)
    if (segment.executable) code->append(segment);
  return code;
}

Result<Program> Program::make(std::shared_ptr<const DecodedCode> code, const KernelInfo& kernel) {
  Program program;
  program.kernel_ = kernel;
  program.kernel_.entry += code->base();
  program.entry_ = code->index_at(program.kernel_.entry);
  if (program.entry_ == DecodedCode::kNone)
    return bad_file("kernel '{}': no instruction of {} begins at its entry {:#x}", kernel.name,
                    info_of(code->isa()).name, kernel.entry);
  program.code_ = std::move(code);
  return program;
}

}  // namespace rung::amdgpu
