// Enqueues each step twice and compares what the host does each time.
// SPDX-License-Identifier: Apache-2.0
#include "session/capture_doctor.hpp"

#include <algorithm>

#include "base/words.hpp"
#include "measure/clock.hpp"

namespace rung {
namespace {

constexpr double kSlowStartUs =
    50;  // a first launch that takes the host this much longer than its second set something up

constexpr std::array<std::string_view, gpu::kChores> kDone{
    "allocations of device memory",     "modules loaded",    "kernels looked up",
    "kernels given more shared memory", "waits of the host", "copies by the host"};
constexpr std::array<std::string_view, gpu::kChores> kDoes{"allocates device memory", "loads a module",
                                                           "looks a kernel up",       "asks for more shared memory",
                                                           "waits for the device",    "copies by the host"};

void append(std::string& text, const std::string& more) { text += (text.empty() ? "" : ", ") + more; }

}  // namespace

size_t CaptureDoctor::free_bytes() const {
  auto memory = queue_.gpu().memory();
  return memory ? memory->free : 0;
}

Result<std::vector<CaptureDoctor::Visit>> CaptureDoctor::visit(const Enqueue& enqueue) {
  std::vector<Visit> visits(plan_.steps.size());
  for (size_t i = 0; i < visits.size(); ++i) {
    gpu::ChoreCounts before = gpu::Gpu::chores_of_this_thread();
    Status done;
    visits[i].us = seconds_of([&] { done = enqueue(i); }) * 1e6;
    RUNG_CHECK(std::move(done));
    gpu::ChoreCounts after = gpu::Gpu::chores_of_this_thread();
    for (size_t c = 0; c < gpu::kChores; ++c) visits[i].chores[c] = after[c] - before[c];
  }
  RUNG_CHECK(queue_.wait());
  return visits;
}

Status CaptureDoctor::examine(const Enqueue& enqueue) {
  size_t free = free_bytes();
  RUNG_TRY(first_, visit(enqueue));
  taken_bytes_ = free - std::min(free, free_bytes());
  RUNG_TRY(second_, visit(enqueue));
  for (size_t i = 0; i < second_.size(); ++i)
    for (size_t c = 0; c < gpu::kChores; ++c)
      if (second_[i].chores[c] > 0)
        return fail("{} ({}) on {} {} in every run, which a graph cannot hold", plan_.steps[i].label,
                    name_of(plan_.steps[i].op), plan_.steps[i].choice.kernel, kDoes[c]);
  return {};
}

std::string CaptureDoctor::first_touches() const {
  gpu::ChoreCounts all{};
  int slow = 0;
  double slow_us = 0;
  for (size_t i = 0; i < first_.size(); ++i) {
    for (size_t c = 0; c < gpu::kChores; ++c) all[c] += first_[i].chores[c];
    double longer = first_[i].us - second_[i].us;
    if (longer > kSlowStartUs) ++slow, slow_us += longer;
  }
  std::string text;
  for (size_t c = 0; c < gpu::kChores; ++c)
    if (all[c] > 0) append(text, fmt::format("{}: {}", kDone[c], all[c]));
  if (slow > 0) append(text, fmt::format("launches that set something up: {} ({:.1f} ms)", slow, slow_us * 1e-3));
  if (taken_bytes_ > 0)
    append(text, fmt::format("device memory taken: {:.0f} MB", static_cast<double>(taken_bytes_) * 1e-6));
  return text;
}

std::string CaptureDoctor::workspaces() const {
  auto count =
      std::count_if(plan_.steps.begin(), plan_.steps.end(), [](const Step& s) { return s.scratch.has_value(); });
  return count == 0 ? "no launch needs a workspace"
                    : words::counted(count, "launch has", "launches have") +
                          " a workspace: in the plan's arena, not tied to a stream";
}

std::string CaptureDoctor::loaded() const {
  gpu::ChoreCounts so_far = queue_.gpu().chores();
  auto count = [&](gpu::Chore chore) { return so_far[static_cast<size_t>(chore)]; };
  return fmt::format("nothing had to be warmed; this process has loaded {} modules and {} kernels so far",
                     count(gpu::Chore::load_module), count(gpu::Chore::find_kernel));
}

std::vector<std::string> CaptureDoctor::notes() const {
  std::string touched = first_touches();
  return {fmt::format("{} looked at; the first time: {}", words::counted(first_.size(), "launch", "launches"),
                      touched.empty() ? loaded() : touched + "; warmed by that run"),
          "the second time: no allocation, no load, no wait, no copy by the host", workspaces()};
}

}  // namespace rung
