// The C interface's handles: numbers in the guise of pointers, so that a closed one is recognized and never followed.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <new>
#include <thread>
#include <utility>

#include "base/forks.hpp"

namespace rung {

// A handle is a slot's index and its generation: no two handles of a process are equal. No call takes a lock, which a
// fork in another thread could leave held in the child.
template <class Handle, class Object>
class HandleTable {
  struct alignas(64) Slot {
    std::atomic<uint64_t> state{kFree};  // or the handle's number
    std::atomic<uint32_t> users{0};
    uint64_t generation = 0;
    Object* object = nullptr;
    MadeIn made_in;
  };

 public:
  // The object behind a handle, kept as long as this lives; false if the handle is closed, or never was one.
  class Use {
   public:
    Use(Slot* slot, uint64_t number) : slot_(slot) {
      if (!slot_) return;
      slot_->users.fetch_add(1);
      if (slot_->state.load() != number) leave();
    }
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;
    ~Use() { leave(); }
    explicit operator bool() const { return slot_ != nullptr; }
    Object& operator*() const { return *slot_->object; }
    Object* operator->() const { return slot_->object; }

   private:
    void leave() {
      if (Slot* left = std::exchange(slot_, nullptr)) left->users.fetch_sub(1);
    }
    Slot* slot_;
  };

  // Throws std::bad_alloc.
  Handle* open(std::unique_ptr<Object> object) {
    for (uint64_t index = 0; index < kChunks * kChunkSlots; ++index) {
      Slot& slot = made_slot(index);
      uint64_t expected = kFree;
      if (slot.state.load() != kFree || !slot.state.compare_exchange_strong(expected, kTaken)) continue;
      if (slot.made_in.another_process()) slot.users = 0;  // threads inside at the fork are not in this process
      slot.made_in = MadeIn();
      slot.object = object.release();
      const uint64_t number = ++slot.generation * kChunks * kChunkSlots + index;
      slot.state.store(number);
      return reinterpret_cast<Handle*>(static_cast<uintptr_t>(number));
    }
    throw std::bad_alloc();
  }

  Use use(const Handle* handle) { return Use(slot_of(handle), number_of(handle)); }

  // Closes a handle, and waits until no call uses it. A handle that is closed already, or NULL, is left alone.
  void close(const Handle* handle) {
    Slot* slot = slot_of(handle);
    uint64_t number = number_of(handle);
    if (!slot || !slot->state.compare_exchange_strong(number, kTaken)) return;
    while (slot->users.load() != 0 && !slot->made_in.another_process())
      std::this_thread::sleep_for(std::chrono::microseconds(20));
    delete std::exchange(slot->object, nullptr);
    slot->state.store(kFree);
  }

 private:
  static constexpr uint64_t kChunks = 4096, kChunkSlots = 256;
  static constexpr uint64_t kFree = 0, kTaken = 1;  // handles are greater than any index

  static uint64_t number_of(const Handle* handle) { return static_cast<uint64_t>(reinterpret_cast<uintptr_t>(handle)); }
  Slot* slot_of(const Handle* handle) {
    const uint64_t index = number_of(handle) % (kChunks * kChunkSlots);
    Slot* chunk = number_of(handle) <= index ? nullptr : chunks_[index / kChunkSlots].load();
    return chunk ? chunk + index % kChunkSlots : nullptr;
  }
  Slot& made_slot(uint64_t index) {
    std::atomic<Slot*>& chunk = chunks_[index / kChunkSlots];
    if (!chunk.load()) {
      auto made = std::make_unique<Slot[]>(kChunkSlots);
      Slot* none = nullptr;
      if (chunk.compare_exchange_strong(none, made.get())) (void)made.release();
    }
    return chunk.load()[index % kChunkSlots];
  }

  std::array<std::atomic<Slot*>, kChunks> chunks_{};
};

}  // namespace rung
