// Runs the passes of the enabled rungs one after another.
// SPDX-License-Identifier: Apache-2.0
#include "passes/runner.hpp"

#include <chrono>

#include "base/atomic_file.hpp"
#include "base/log.hpp"
#include "ir/text.hpp"
#include "ir/verify.hpp"
#include "passes/pipeline.hpp"

namespace rung {
namespace {

using Clock = std::chrono::steady_clock;

// Every edit that survives erase_dead() leaves a node of a new id, or fewer nodes.
bool has_changed(const Graph& graph, size_t old_capacity, size_t old_size) {
  if (graph.size() != old_size) return true;
  for (NodeId id = static_cast<NodeId>(old_capacity); id < graph.capacity(); ++id)
    if (graph[id].alive) return true;
  return false;
}

// The error of a failing pass, with the dump that replays it.
Error explain_failure(const Pass& pass, const Error& error, const Graph& before, const std::string& directory) {
  std::string message = fmt::format("pass '{}': {}", pass.name, error.message);
  if (directory.empty()) return {std::move(message), error.kind};
  std::string path = fmt::format("{}/{}.before.txt", directory, pass.name);
  auto written = write_file_atomically(path, std::string_view(print(before)));
  message +=
      written ? fmt::format(" (its graph is in {})", path) : fmt::format(" (no dump: {})", written.error().message);
  return {std::move(message), error.kind};
}

void log_row(const PassReport::Row& row, const Graph& graph) {
  log(3, "pass {} ({}): {} -> {} nodes, {:.2f} ms{}", row.name, row.rung, row.nodes_before, row.nodes_after, row.ms,
      row.changed ? "" : ", nothing to do");
  for (const std::string& note : row.notes) log(3, "  {}", note);
  if (row.changed && log_enabled(4)) log_line(4, print(graph));
}

Result<PassReport::Row> run_one(const Pass& pass, Graph& graph, const PassOptions& options) {
  PassReport::Row row{.name = std::string(pass.name), .rung = std::string(pass.rung), .nodes_before = graph.size()};
  Graph before = options.dump_directory.empty() ? Graph{} : graph;
  size_t old_capacity = graph.capacity();
  Notes notes;
  PassContext context{notes, options.has_kernel, options.precision, options.row_bytes};
  auto start = Clock::now();
  Status status = pass.run(graph, context);
  if (status) {
    graph.erase_dead();
    row.changed = has_changed(graph, old_capacity, row.nodes_before);
    if (row.changed) status = verify(graph);
  }
  if (!status) return tl::unexpected<Error>(explain_failure(pass, status.error(), before, options.dump_directory));
  row.ms = std::chrono::duration<double, std::milli>(Clock::now() - start).count();
  row.nodes_after = graph.size();
  row.notes = std::move(notes.lines);
  return row;
}

}  // namespace

Result<PassReport> run_passes(Graph& graph, const PassOptions& options, std::span<const Pass> list) {
  PassReport report;
  graph.erase_dead();
  for (const Pass& pass : list) {
    if (!options.rungs.contains(pass.rung) || options.disabled.contains(pass.name)) continue;
    RUNG_TRY(PassReport::Row row, run_one(pass, graph, options));
    log_row(row, graph);
    report.rows.push_back(std::move(row));
  }
  return report;
}

Result<PassReport> run_passes(Graph& graph, const PassOptions& options) {
  return run_passes(graph, options, pipeline());
}

}  // namespace rung
