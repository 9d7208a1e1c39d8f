// A team of threads that works off a list of sections together, and waits for no thread that does nothing.
// SPDX-License-Identifier: Apache-2.0
//
// A section is cut into parts. Each thread takes the parts of its own lane first, which keeps their data in its caches,
// then parts that other lanes still hold. A thread whose core the system takes away delays only the one part that it is
// at, and a late thread finds nothing left. Which thread does a part changes no result.
#pragma once
#include <atomic>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <thread>
#include <type_traits>
#include <vector>

#include "base/forks.hpp"
#include "device/cpu/bell.hpp"
#include "device/cpu/claims.hpp"

namespace rung::cpu {

// `cores` keeps each worker on its own core, if the process may use at least as many cores as the team has threads.
enum class Pinning { none, cores };

class Team {
 public:
  // Each worker calls it whenever it has seen a section, before it claims a part. It is for tests, which hold the
  // worker there.
  using BeforeClaims = void (*)(int thread);

  // The caller is thread 0; the constructor starts threads - 1 workers.
  explicit Team(int threads, Pinning pinning = Pinning::none, BeforeClaims before_claims = nullptr);
  ~Team();  // does nothing in a forked child, whose parent has the workers
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  int size() const { return size_; }

  // Calls f(section, part, thread) once for each of parts[section] parts, 0 to kMostParts of them, of each section. All
  // parts of a section are done before any of the next begins, and those of the last before this returns. The calls of
  // one thread never overlap. It rethrows what a part throws; parts that have not begun by then are left out. One
  // thread at a time may call it; called inside of f, it does all parts on the calling thread.
  template <class F>
  void run(std::span<const int> parts, F&& f) {
    const auto call = [](void* body, size_t section, int part, int thread) {
      (*static_cast<std::remove_reference_t<F>*>(body))(section, part, thread);
    };
    run_work({call, const_cast<void*>(static_cast<const void*>(&f)), parts, 0});
  }

  // Runs one section: f(part, thread).
  template <class F>
  void run(int parts, F&& f) {
    run(std::span<const int>(&parts, 1), [&f](size_t, int part, int thread) { f(part, thread); });
  }

  // Calls f(thread) once on every thread, and waits for all of them, to measure them or to learn about them.
  template <class F>
  void run_on_all(F&& f) {
    std::atomic<int> here{0};
    run(size_, [&](int, int thread) {
      meet(here);
      f(thread);
    });
  }

 private:
  struct Work {
    void (*body)(void*, size_t section, int part, int thread) = nullptr;
    void* data = nullptr;
    std::span<const int> parts;
    uint64_t first_epoch = 0;  // that of section 0; the others follow

    uint64_t end() const { return first_epoch + parts.size(); }
  };
  struct alignas(64) Lane {
    std::atomic<uint64_t> word{0};
  };

  void run_work(Work work);
  void run_alone(const Work& work, int thread);
  void live(int thread);
  EpochWord open() const { return EpochWord::of_bits(open_.load(std::memory_order_acquire)); }
  void open_next(uint64_t epoch);
  void take_part(EpochWord seen, int thread);
  bool do_next(EpochWord seen, int lane, int thread);
  void do_part(uint64_t epoch, int part, int thread);
  void count_done(EpochWord seen, int parts);
  EpochWord wait_for_change(EpochWord seen, Bell& bell);
  void meet(std::atomic<int>& here) const;
  void stop();

  const int size_;
  int spins_ = 0;  // pauses before a waiting thread sleeps; few when threads outnumber cores
  const BeforeClaims before_claims_;
  alignas(64) std::atomic<uint64_t> open_{0};  // an EpochWord
  alignas(64) std::atomic<int> done_{0};       // parts of the open section
  alignas(64) Bell workers_bell_;
  Bell callers_bell_;
  std::atomic<bool> stopping_{false};
  std::atomic<bool> threw_{false};
  std::exception_ptr thrown_;  // what the first part that threw threw
  Work work_;                  // read only by threads that have claimed a part of it
  std::unique_ptr<Lane[]> lanes_;
  std::vector<std::thread> workers_;
  MadeIn made_in_;
};

}  // namespace rung::cpu
