// Threads that take the next index until there is none.
// SPDX-License-Identifier: Apache-2.0
#include "base/parallel.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "base/cores.hpp"
#include "base/signals.hpp"

namespace rung {
namespace {

constexpr size_t kMostThreads = 8;

class Indices {
 public:
  Indices(size_t count, const std::function<void(size_t)>& work) : count_(count), work_(work) {}

  void take() {
    for (size_t i; !stopped_.load(std::memory_order_relaxed) && (i = next_.fetch_add(1)) < count_;) {
      try {
        work_(i);
      } catch (...) {
        std::lock_guard lock(mutex_);
        if (!thrown_) thrown_ = std::current_exception();
        stopped_ = true;
      }
    }
  }
  void rethrow() const {
    if (thrown_) std::rethrow_exception(thrown_);
  }

 private:
  size_t count_;
  const std::function<void(size_t)>& work_;
  std::atomic<size_t> next_{0};
  std::atomic<bool> stopped_{false};
  std::mutex mutex_;
  std::exception_ptr thrown_;
};

}  // namespace

void parallel_for(size_t count, const std::function<void(size_t)>& work) {
  Indices indices(count, work);
  const size_t wanted = std::min({kMostThreads, count, static_cast<size_t>(usable_cores())});
  std::vector<std::thread> others;
  others.reserve(wanted);  // no memory is asked for while threads run
  try {
    const SignalsHeld held;  // threads start with signals held
    while (others.size() + 1 < wanted) others.emplace_back([&] { indices.take(); });
  } catch (const std::exception&) {  // no more threads available: those that run do all the work
  }
  indices.take();
  for (auto& other : others) other.join();
  indices.rethrow();
}

}  // namespace rung
