// Maps memory, fills it and makes it executable; keeps what was assembled.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/generated/code.hpp"

#include <sys/mman.h>

#include <cstring>
#include <map>
#include <mutex>
#include <string>

#include "base/log.hpp"
#include "kernels/generated/emitter.hpp"

namespace rung::generated {
namespace {

// All that the instructions follow from.
std::string key_of(VectorSet set, const Body& body, const std::vector<bool>& same) {
  std::string key(1, static_cast<char>(set));
  for (bool one : same) key.push_back(one ? '1' : '*');
  const auto append = [&](const auto& value) { key.append(reinterpret_cast<const char*>(&value), sizeof(value)); };
  for (const Step& step : body.steps) {
    append(static_cast<int32_t>(step.primitive));
    for (int operand : step.operand) append(operand);
    append(step.immediate);
  }
  for (const Table& table : body.tables) append(table.words);
  return key;
}

// The assembler throws where memory runs out.
std::shared_ptr<const Code> assembled(VectorSet set, const Body& body, const std::vector<bool>& same) {
  try {
    const auto emitter = set == VectorSet::avx512 ? avx512_emitter(body, same) : avx2_emitter(body, same);
    return Code::make(emitter->emit());
  } catch (const Xbyak::Error& error) {
    log(1, "generated code: {}", error.what());
    return nullptr;
  }
}

}  // namespace

std::shared_ptr<const Code> Code::make(std::span<const uint8_t> instructions) {
  const size_t bytes = (instructions.size() + 4095) / 4096 * 4096;
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  std::memcpy(memory, instructions.data(), instructions.size());
  std::shared_ptr<const Code> code(new Code(memory, bytes));
  return mprotect(memory, bytes, PROT_READ | PROT_EXEC) == 0 ? code : nullptr;
}

Code::~Code() { munmap(memory_, bytes_); }

Function Code::function() const { return reinterpret_cast<Function>(memory_); }

Verdict may_execute() {
  static const bool may = [] {
    constexpr uint8_t kReturn[] = {0xc3};
    return Code::make(kReturn) != nullptr;
  }();
  return may ? accept() : reject("this process may not make memory executable");
}

std::shared_ptr<const Code> code_of(VectorSet set, const Body& body, const std::vector<bool>& same) {
  static std::mutex mutex;
  static std::map<std::string, std::weak_ptr<const Code>> known;
  const std::string key = key_of(set, body, same);
  const std::lock_guard lock(mutex);
  if (auto code = known[key].lock()) return code;
  std::erase_if(known, [](const auto& entry) { return entry.second.expired(); });
  auto code = assembled(set, body, same);
  if (code) known[key] = code;
  return code;
}

}  // namespace rung::generated
