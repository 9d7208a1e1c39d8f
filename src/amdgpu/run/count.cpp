// Classifies instructions by encoding and mnemonic, and sums up their counts.
// SPDX-License-Identifier: Apache-2.0
#include "amdgpu/run/count.hpp"

#include <iterator>
#include <string_view>

#include "amdgpu/isa/decode.hpp"

namespace rung::amdgpu {
namespace {

bool has(std::string_view name, std::string_view part) { return name.find(part) != std::string_view::npos; }

OperationClass class_of_scalar(std::string_view name) {
  if (name == "s_waitcnt") return OperationClass::wait;
  if (name == "s_barrier") return OperationClass::barrier;
  for (const char* start : {"s_branch", "s_cbranch", "s_setpc", "s_swappc", "s_call"})
    if (name.starts_with(start)) return OperationClass::branch;
  return OperationClass::scalar;
}

OperationClass class_of_local(std::string_view name) {
  if (name.starts_with("ds_read")) return OperationClass::lds_read;
  if (name.starts_with("ds_write")) return OperationClass::lds_write;
  if (has(name, "permute") || has(name, "swizzle") || name == "ds_nop") return OperationClass::vector;
  return OperationClass::atomic;
}

OperationClass class_of_memory(std::string_view name) {
  if (has(name, "_atomic_")) return OperationClass::atomic;
  if (has(name, "_store_")) return OperationClass::global_store;
  return has(name, "_load_") ? OperationClass::global_load : OperationClass::scalar;  // else it clears caches
}

uint64_t& field_of(Counts& counts, OperationClass kind) {
  switch (kind) {
    case OperationClass::vector:
      return counts.vector;
    case OperationClass::scalar:
      return counts.scalar;
    case OperationClass::matrix:
      return counts.matrix;
    case OperationClass::branch:
      return counts.branches;
    case OperationClass::wait:
      return counts.waits;
    case OperationClass::barrier:
      return counts.barriers;
    case OperationClass::global_load:
      return counts.global_loads;
    case OperationClass::global_store:
      return counts.global_stores;
    case OperationClass::lds_read:
      return counts.lds_reads;
    case OperationClass::lds_write:
      return counts.lds_writes;
    case OperationClass::atomic:
      return counts.atomics;
    case OperationClass::scratch:
      break;
  }
  return counts.scratch;
}

}  // namespace

OperationClass class_of(const Instruction& instruction) {
  const std::string_view name = name_of(instruction.opcode);
  switch (instruction.encoding) {
    case Encoding::sop1:
    case Encoding::sop2:
    case Encoding::sopk:
    case Encoding::sopc:
    case Encoding::sopp:
    case Encoding::smem:
      return class_of_scalar(name);
    case Encoding::ds:
      return class_of_local(name);
    case Encoding::scratch:
      return OperationClass::scratch;
    case Encoding::flat:
    case Encoding::global:
    case Encoding::mubuf:
      return class_of_memory(name);
    default:
      break;
  }
  return name.starts_with("v_mfma") || name.starts_with("v_smfmac") ? OperationClass::matrix : OperationClass::vector;
}

void count_classes(std::span<const Instruction> instructions, std::span<const uint64_t> executed, Counts& counts) {
  for (size_t n = 0; n < executed.size(); ++n) {
    if (executed[n] == 0) continue;
    const Instruction& instruction = instructions[n];
    if (instruction.bytes == 0) continue;  // no instruction: reaching it was a defect
    counts.instructions += executed[n];
    counts.by_opcode[instruction.opcode] += executed[n];
    field_of(counts, class_of(instruction)) += executed[n];
  }
}

void Counts::add(const Counts& more) {
  for (uint64_t Counts::*field :
       {&Counts::waves, &Counts::instructions, &Counts::vector, &Counts::scalar, &Counts::matrix, &Counts::branches,
        &Counts::waits, &Counts::barriers, &Counts::global_loads, &Counts::global_stores, &Counts::lds_reads,
        &Counts::lds_writes, &Counts::atomics, &Counts::scratch, &Counts::global_bytes_read,
        &Counts::global_bytes_written, &Counts::lds_bytes, &Counts::cache_lines, &Counts::bank_conflict_cycles})
    this->*field += more.*field;
  for (size_t n = 0; n < std::size(bytes_by_width); ++n) bytes_by_width[n] += more.bytes_by_width[n];
  for (const auto& [opcode, count] : more.by_opcode) by_opcode[opcode] += count;
}

}  // namespace rung::amdgpu
