// A team of threads that run one function together, with a barrier that costs well under a microsecond while they spin.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <atomic>
#include <cstdint>
#include <thread>
#include <type_traits>
#include <vector>

#include "base/forks.hpp"

namespace rung::cpu {

// `cores` keeps each worker on its own core, where the process may use at least as many cores as the team has threads.
enum class Pinning { none, cores };

class Team {
 public:
  // The caller is thread 0; threads - 1 workers are started.
  explicit Team(int threads, Pinning pinning = Pinning::none);
  ~Team();  // in a forked child, whose parent has the workers: does nothing
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  int size() const { return size_; }

  // Runs f(thread) on every thread and returns when all are done. Not reentrant; call from one thread at a time.
  template <class F>
  void run(F&& f) {
    auto call = [](void* body, int thread) { (*static_cast<std::remove_reference_t<F>*>(body))(thread); };
    run_erased(call, const_cast<void*>(static_cast<const void*>(&f)));
  }

  // Inside run(): waits until every thread is here.
  void barrier();

 private:
  using Body = void (*)(void*, int);
  void run_erased(Body body, void* data);
  void work(int thread);
  void wait_for_ticket(uint32_t seen);
  bool arrive();  // true for the last to come, which turns the phase

  const int size_;
  int spins_ = 0;  // pauses before a waiting thread yields or sleeps; few when threads outnumber cores
  alignas(64) std::atomic<uint32_t> ticket_{0};  // bumped for every run
  alignas(64) std::atomic<int> arrived_{0};
  alignas(64) std::atomic<uint32_t> phase_{0};
  alignas(64) std::atomic<bool> stopping_{false};
  Body body_ = nullptr;
  void* data_ = nullptr;
  std::vector<std::thread> workers_;
  MadeIn made_in_;
};

// The part [begin, end) of `count` items that `thread` of `threads` takes; parts differ by at most one `grain`.
struct Range {
  int64_t begin = 0, end = 0;
};
inline Range share(int64_t count, int thread, int threads, int64_t grain = 1) {
  int64_t blocks = (count + grain - 1) / grain;
  int64_t first = blocks * thread / threads * grain, last = blocks * (thread + 1) / threads * grain;
  return {first < count ? first : count, last < count ? last : count};
}

}  // namespace rung::cpu
