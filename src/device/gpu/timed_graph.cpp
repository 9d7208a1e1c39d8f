// Records, replays and times graphs.
// SPDX-License-Identifier: Apache-2.0
#include "device/gpu/timed_graph.hpp"

#include "device/gpu/current_context.hpp"

namespace rung::gpu {

Result<std::unique_ptr<TimedGraph>> TimedGraph::record(Queue& queue, const std::function<Status()>& launches) {
  const Gpu& gpu = queue.gpu();
  const Runtime& runtime = gpu.runtime();
  const CurrentContext current(gpu);
  std::unique_ptr<TimedGraph> made(new TimedGraph(queue));
  RUNG_CHECK(gpu.check(runtime.event_create(&made->start_), "event"));
  RUNG_CHECK(gpu.check(runtime.event_create(&made->end_), "event"));
  RUNG_CHECK(gpu.check(runtime.capture_begin(queue.stream()), "recording a graph"));
  Status recorded = launches();
  Graph graph = nullptr;
  Status ended = gpu.check(runtime.capture_end(queue.stream(), &graph), "recording a graph");
  if (recorded) recorded = std::move(ended);
  if (recorded) {
    runtime.graph_nodes(graph, &made->nodes_);
    recorded = gpu.check(runtime.graph_instantiate(&made->executable_, graph), "making a graph ready");
  }
  if (graph) runtime.graph_destroy(graph);
  RUNG_CHECK(Status(recorded));
  return made;
}

TimedGraph::~TimedGraph() {
  const Runtime& runtime = queue_.gpu().runtime();
  const CurrentContext current(queue_.gpu());
  if (executable_) runtime.executable_destroy(executable_);
  for (Event event : {start_, end_})
    if (event) runtime.event_destroy(event);
}

Status TimedGraph::replay() {
  const CurrentContext current(queue_.gpu());
  RUNG_CHECK(start());
  RUNG_CHECK(queue_.wait());
  return take_time();
}

Status TimedGraph::launch(Stream stream) const {
  const Gpu& gpu = queue_.gpu();
  const CurrentContext current(gpu);
  return gpu.check(gpu.runtime().graph_launch(executable_, stream), "replay");
}

Status TimedGraph::start() {
  const Gpu& gpu = queue_.gpu();
  const Runtime& runtime = gpu.runtime();
  const CurrentContext current(gpu);
  RUNG_CHECK(gpu.check(runtime.event_record(start_, queue_.stream()), "replay"));
  RUNG_CHECK(launch(queue_.stream()));
  return gpu.check(runtime.event_record(end_, queue_.stream()), "replay");
}

Status TimedGraph::take_time() {
  const Gpu& gpu = queue_.gpu();
  const Runtime& runtime = gpu.runtime();
  const CurrentContext current(gpu);
  float ms = 0;
  RUNG_CHECK(gpu.check(runtime.event_elapsed_ms(&ms, start_, end_), "replay"));
  ms_ = ms;
  return {};
}

}  // namespace rung::gpu
