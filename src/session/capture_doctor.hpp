// Looks at a launch list before it is recorded into a graph: names what a graph must not hold or should not pay for,
// warms what is only there the first time, and refuses what comes back in every run.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "device/gpu/queue.hpp"
#include "plan/plan.hpp"

namespace rung {

class CaptureDoctor {
 public:
  using Enqueue = std::function<Status(size_t step)>;
  CaptureDoctor(gpu::Queue& queue, const Plan& plan) : queue_(queue), plan_(plan) {}

  // Enqueues every step twice, one at a time. What happens the first time only is warm from then on; what other threads
  // do meanwhile is not looked at. Errors: a step that allocates, loads, waits or copies again the second time, by
  // name; the step's own.
  Status examine(const Enqueue& enqueue);
  // One line for each thing found, with counts and what was done about it.
  std::vector<std::string> notes() const;

 private:
  struct Visit {
    gpu::ChoreCounts chores{};
    double us = 0;  // of the host
  };
  Result<std::vector<Visit>> visit(const Enqueue& enqueue);
  size_t free_bytes() const;
  std::string first_touches() const;
  std::string loaded() const;
  std::string workspaces() const;

  gpu::Queue& queue_;
  const Plan& plan_;
  std::vector<Visit> first_, second_;  // by step
  size_t taken_bytes_ = 0;             // device memory that was gone after the first time
};

}  // namespace rung
