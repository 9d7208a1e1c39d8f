// Launches recorded once and replayed as one, timed by the device's own clock.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>

#include "device/gpu/queue.hpp"

namespace rung::gpu {

class TimedGraph {
 public:
  // Records what `launches` puts into the queue's stream, without running it. Everything that it needs must be warm: a
  // graph takes no module load and no library set-up. Errors: those of the launches, or of the recording. The queue
  // must outlive the graph, and one thread at a time may use both.
  static Result<std::unique_ptr<TimedGraph>> record(Queue& queue, const std::function<Status()>& launches);
  ~TimedGraph();
  TimedGraph(const TimedGraph&) = delete;
  TimedGraph& operator=(const TimedGraph&) = delete;

  Status replay();                     // returns when the device is done
  Status launch(Stream stream) const;  // into any stream of the device, without a time
  Status start();                      // into the queue: call take_time() when it is empty
  Status take_time();
  double ms() const { return ms_; }  // the time of the last timed replay
  size_t nodes() const { return nodes_; }

 private:
  explicit TimedGraph(Queue& queue) : queue_(queue) {}
  Queue& queue_;
  Event start_ = nullptr, end_ = nullptr;
  ExecutableGraph executable_ = nullptr;
  size_t nodes_ = 0;
  double ms_ = 0;
};

}  // namespace rung::gpu
