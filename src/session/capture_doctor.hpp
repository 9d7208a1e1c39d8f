// Examines a launch list before it is recorded into a graph: names work that a graph must not hold or should not pay
// for, warms work that happens only the first time, and refuses work that every run repeats.
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

  // Enqueues every step twice, one at a time. Work that happens only the first time is warm afterwards; calls of other
  // threads meanwhile are ignored. Errors: a step that allocates, loads, waits or copies again the second time, by
  // name; the step's own.
  Status examine(const Enqueue& enqueue);
  // Returns one line for each finding, with counts and the remedy taken.
  std::vector<std::string> notes() const;

 private:
  struct Visit {
    gpu::ChoreCounts chores{};
    double us = 0;  // host time
  };
  Result<std::vector<Visit>> visit(const Enqueue& enqueue);
  size_t free_bytes() const;
  std::string first_touches() const;
  std::string loaded() const;
  std::string workspaces() const;

  gpu::Queue& queue_;
  const Plan& plan_;
  std::vector<Visit> first_, second_;  // by step
  size_t taken_bytes_ = 0;             // device memory that the first enqueues took
};

}  // namespace rung
