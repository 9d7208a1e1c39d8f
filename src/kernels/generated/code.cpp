// Maps memory, fills it and makes it executable; keeps what was assembled.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/generated/code.hpp"

#include <sys/mman.h>

#include <cstring>
#include <map>
#include <mutex>
#include <new>
#include <string>

#include "kernels/generated/emitter.hpp"

namespace rung::generated {
namespace {

// All that the instructions follow from, as bytes.
class Key {
 public:
  Key(VectorSet set, const Body& body, const std::vector<bool>& same) {
    append(set);
    append(same);
    append(body);
  }
  Key(VectorSet set, const RegionBody& region) {
    append(set);
    append(region.same);
    for (int number : {region.results, region.buffers, region.row_values}) append(number);
    append(region.width);
    append(region.at_once.has_value());
    if (region.at_once) append(*region.at_once);
    for (const Body& body : region.rows) append(body);
    for (const Sweep& sweep : region.sweeps) {
      append(sweep.variables), append(sweep.copies);
      append(sweep.whole), append(sweep.tail);
    }
  }
  const std::string& text() const { return text_; }

 private:
  template <class T>
  void append(const T& value) {
    text_.append(reinterpret_cast<const char*>(&value), sizeof(value));
  }
  void append(const std::vector<bool>& same) {
    for (bool one : same) text_.push_back(one ? '1' : '*');
  }
  void append(const Body& body) {
    append(body.steps.size()), append(body.tables.size());
    for (const Step& step : body.steps) {
      append(static_cast<int32_t>(step.primitive));
      for (int operand : step.operand) append(operand);
      append(step.immediate);
    }
    for (const Table& table : body.tables) append(table.words);
  }

  std::string text_;
};

template <class... Source>
std::shared_ptr<const Code> assembled(VectorSet set, const Source&... source) {
  try {
    const auto emitter = set == VectorSet::avx512 ? avx512_emitter() : avx2_emitter();
    if (auto code = Code::make(emitter->emit(source...))) return code;
  } catch (const Xbyak::Error& error) {
    if (static_cast<int>(error) != Xbyak::ERR_CANT_ALLOC) throw;
  }
  throw std::bad_alloc();
}

// The code that somebody holds, by its key.
class Library {
 public:
  // Lives as long as the process, as code may be let go while it ends.
  static Library& get() {
    static auto* library = new Library;
    return *library;
  }

  template <class... Source>
  std::shared_ptr<const Code> code_of(VectorSet set, const Source&... source) {
    const std::string key = Key(set, source...).text();
    if (auto code = find(key)) return code;
    return add(key, assembled(set, source...));
  }

 private:
  std::shared_ptr<const Code> find(const std::string& key) {
    const std::lock_guard lock(mutex_);
    const auto it = held_.find(key);
    return it == held_.end() ? nullptr : it->second.lock();
  }

  // Returns the code for all who ask for the key from now on; others may have been faster.
  std::shared_ptr<const Code> add(const std::string& key, const std::shared_ptr<const Code>& code) {
    // A copy that is not constant moves without memory, as a deleter must.
    std::shared_ptr<const Code> shared(code.get(), [this, own = std::string(key), code](const Code*) { forget(own); });
    const std::lock_guard lock(mutex_);
    auto& held = held_[key];
    if (auto others = held.lock()) return others;
    held = shared;
    return shared;
  }

  void forget(const std::string& key) {
    const std::lock_guard lock(mutex_);
    const auto it = held_.find(key);
    if (it != held_.end() && it->second.expired()) held_.erase(it);
  }

  std::mutex mutex_;
  std::map<std::string, std::weak_ptr<const Code>> held_;
};

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
  return Library::get().code_of(set, body, same);
}
std::shared_ptr<const Code> code_of(VectorSet set, const RegionBody& region) {
  return Library::get().code_of(set, region);
}

}  // namespace rung::generated
