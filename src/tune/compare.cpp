// Runs the pairs and estimates the ratio.
// SPDX-License-Identifier: Apache-2.0
#include "tune/compare.hpp"

#include <algorithm>
#include <array>

namespace rung {
namespace {

// Returns 0 1, 1 0, 0 1, ...
std::vector<int> in_turns(int pairs) {
  std::vector<int> indices;
  for (int pair = 0; pair < pairs; ++pair) indices.insert(indices.end(), {pair % 2, 1 - pair % 2});
  return indices;
}

}  // namespace

Result<Compared> compare_in_worker(const WorkerJob& job, int pairs) {
  const std::vector<int> indices = in_turns(pairs);
  std::array<std::vector<double>, 2> us;
  auto worker = start_worker(job, indices, 0);
  for (size_t done = 0; done < indices.size() && !(job.out_of_time && job.out_of_time()); ++done) {
    const auto message = worker->next(job.hang_seconds);
    const size_t at = static_cast<size_t>(message ? message->index : indices[done]);
    std::string reason = message ? reason_against(*message, job.problem) : worker->failure();
    if (!message && reason.empty()) reason = "ended early";
    if (!reason.empty()) return fail("{}: {}", job.candidates[at].kernel->name, reason);
    us[at].push_back(message->time.us);
  }
  const size_t taken = std::min(us[0].size(), us[1].size());
  if (taken == 0) return fail("no time left");
  for (auto& times : us) times.resize(taken);
  return Compared{median(us[0]), median(us[1]), estimate_ratio(us[0], us[1])};
}

}  // namespace rung
