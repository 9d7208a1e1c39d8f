// The decode loop of a GPU: the decoder's step and the choice of a token follow each other on the device, so that the
// host asks once for several tokens.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <span>
#include <vector>

#include "device/gpu/pinned.hpp"
#include "device/gpu/timed_graph.hpp"
#include "session/sampler.hpp"
#include "session/session.hpp"

namespace rung {

inline constexpr int64_t kMostStepsOfGraph = 64;

class DeviceLoop {
 public:
  // Records graphs of 1, 4, 16, ... steps, up to `steps`, of a decoder's plan for one token. The session must outlive
  // the loop, and its input_ids and logits are the loop's as long as it lives. Errors: a processor's session (wrong
  // usage), steps beyond 1 to kMostStepsOfGraph, those of Sampler::check() and of Session::create().
  static Result<std::unique_ptr<DeviceLoop>> make(Session& step, int64_t vocabulary, const SamplerOptions& options,
                                                  int64_t steps);

  // Sets what the next run goes on from: the last token, which the decoder has not taken yet; how many were drawn
  // before; how often the text has each token (used by penalties alone). Errors: the device failed.
  Status go_on(int64_t token, int64_t drawn, std::span<const int64_t> seen);
  // Makes up to `most` tokens, at least one, with one graph: as many as its steps. The span is valid until the next
  // run. Errors: those of a run of the decoder, and of Sampler::next().
  Result<std::span<const int64_t>> run(int64_t most);

 private:
  struct Steps {
    int64_t count;
    std::unique_ptr<gpu::TimedGraph> graph;
  };

  DeviceLoop(Session& step, Session choice) : step_(step), choice_(std::move(choice)) {}
  Status record(int64_t steps);
  Status enqueue(int64_t steps, gpu::Stream stream);

  Session& step_;
  Session choice_;
  bool draws_ = false, counts_seen_ = false;
  int64_t seed_ = 0;
  std::byte* token_ = nullptr;  // on the device: input_ids of the decoder, and the result of the choice
  std::unique_ptr<gpu::Queue> queue_;
  std::shared_ptr<gpu::Block> made_;     // the tokens of the run under way but the last, on the device
  std::unique_ptr<gpu::Pinned> tokens_;  // of the last run, in order
  std::vector<Steps> graphs_;            // by steps, ascending
};

}  // namespace rung
