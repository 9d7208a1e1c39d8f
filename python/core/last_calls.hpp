// The library's calls at the program's end: static objects go then, and nobody may be in a call that uses them.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <thread>

namespace rung::python {

class LastCalls {
 public:
  // Never freed: daemon threads come as long as the process lasts.
  static LastCalls& get() {
    static LastCalls* calls = nullptr;
    if (!calls) {  // made with the GIL held, when the module is
      calls = new LastCalls;
      pthread_atfork(nullptr, nullptr, [] { calls->inside_ = 0; });  // who was inside is not in the child
    }
    return *calls;
  }
  // Of a call, without the GIL. Once the program ends, threads but the one that ends it stay here.
  void enter() {
    inside_.fetch_add(1);
    if (ending()) leave();
  }
  void leave() {
    inside_.fetch_sub(1);
    while (ending()) pause();
  }
  // Climbs ask for it, and end.
  bool ending() const { return ending_.load() && std::this_thread::get_id() != by_; }
  // By the thread that ends the program, without the GIL: until the calls of others are over, which are not many
  // milliseconds long but for climbs, which end at their next step; at most 10 s.
  void end() {
    by_ = std::this_thread::get_id();
    ending_.store(true);
    for (int turn = 0; inside_.load() > 0 && turn < 10000; ++turn)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }

 private:
  std::atomic<int> inside_{0};
  std::atomic<bool> ending_{false};
  std::thread::id by_;
};

}  // namespace rung::python
