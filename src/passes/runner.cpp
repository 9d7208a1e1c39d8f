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

// An edit that survives erase_dead() leaves a node with a new id, or fewer nodes.
bool has_changed(const Graph& graph, size_t old_capacity, size_t old_size) {
  if (graph.size() != old_size) return true;
  for (NodeId id = static_cast<NodeId>(old_capacity); id < graph.capacity(); ++id)
    if (graph[id].alive) return true;
  return false;
}

// Returns the error of a failing pass, with the dump that replays it.
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
  for (const Miss& miss : row.misses) log(3, "  not '{}': {}", miss.label, miss.reason);
  if (row.changed && log_enabled(4)) log_line(4, print(graph));
}

Result<PassReport::Row> run_one(const Pass& pass, Graph& graph, const PassOptions& options) {
  PassReport::Row row{.name = std::string(pass.name), .rung = std::string(pass.rung), .nodes_before = graph.size()};
  Graph before = options.dump_directory.empty() ? Graph{} : graph;
  size_t old_capacity = graph.capacity();
  Notes notes;
  PassContext context{
      notes,           options.has_kernel, options.precision, options.row_bytes, options.calibration, options.channels,
      options.outliers};
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
  row.misses = std::move(notes.misses);
  return row;
}

class Run {
 public:
  Run(Graph& graph, const PassOptions& options, std::span<const Pass> canonical)
      : graph_(graph), options_(options), canonical_(canonical) {}

  Result<PassReport> all(std::span<const Pass> list) {
    graph_.erase_dead();
    for (const Pass& pass : first_passes()) {
      ran_.insert(pass.name);  // reported only where it finds something
      RUNG_CHECK(one(pass));
    }
    if (!options_.as_written) RUNG_CHECK(canonicalise());
    for (const Pass& pass : list) {
      if (!options_.rungs.contains(pass.rung)) continue;
      RUNG_TRY(bool changed, one(pass));
      if (changed && pass.then_canonical && !options_.as_written) RUNG_CHECK(canonicalise());
    }
    return std::move(report_);
  }

 private:
  // Runs the canonical passes until each in turn has left the graph unchanged. No rewrite undoes another, so graphs
  // settle after a few rounds; a graph that needs more than kMostRounds never would.
  Status canonicalise() {
    constexpr int kMostRounds = 50;
    size_t quiet = 0;
    for (int round = 0; round < kMostRounds; ++round)
      for (const Pass& pass : canonical_) {
        RUNG_TRY(bool changed, one(pass));
        quiet = changed ? 0 : quiet + 1;
        if (quiet == canonical_.size()) return {};
      }
    return canonical_.empty() ? Status{} : fail("canonical passes still change the graph after {} rounds", kMostRounds);
  }

  // Runs a pass and returns whether it changed the graph. Repetitions that find nothing to do are not reported.
  Result<bool> one(const Pass& pass) {
    if (options_.disabled.contains(pass.name)) return false;
    RUNG_TRY(PassReport::Row row, run_one(pass, graph_, options_));
    const bool changed = row.changed;
    if (!ran_.insert(pass.name).second && !changed) return false;
    log_row(row, graph_);
    report_.rows.push_back(std::move(row));
    return changed;
  }

  Graph& graph_;
  const PassOptions& options_;
  std::span<const Pass> canonical_;
  std::set<std::string_view> ran_;
  PassReport report_;
};

}  // namespace

Result<PassReport> run_passes(Graph& graph, const PassOptions& options, std::span<const Pass> list,
                              std::span<const Pass> canonical) {
  return Run(graph, options, canonical).all(list);
}

Result<PassReport> run_passes(Graph& graph, const PassOptions& options) {
  return run_passes(graph, options, pipeline(), canonical_passes());
}

}  // namespace rung
