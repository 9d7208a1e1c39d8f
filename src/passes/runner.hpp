// Runs the canonical passes and the pipeline: order, enabling, timing, verification after each change, clean-up, log,
// and a dump when a pass fails.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <set>
#include <string>

#include "passes/pass.hpp"

namespace rung {

struct PassOptions {
  std::set<std::string, std::less<>> rungs;     // passes of these rungs run
  std::set<std::string, std::less<>> disabled;  // passes that do not run, by name
  bool as_written = false;                      // the canonical passes do not run
  KernelQuery has_kernel;
  Precision precision;
  Calibration calibration;
  ChannelCalibration channels;
  OutlierColumns outliers;
  int64_t row_bytes = 1;       // of the target
  std::string dump_directory;  // where a failing pass leaves the graph it was given; empty: nowhere
};

struct PassReport {
  struct Row {
    std::string name, rung;
    bool changed = false;
    double ms = 0;
    size_t nodes_before = 0, nodes_after = 0;
    std::vector<std::string> notes;
    std::vector<Miss> misses;
  };
  std::vector<Row> rows;  // passes that ran, in order; a canonical pass again each time that it changed the graph
};

// Errors name the pass, what broke, and the dump that replays it. The graph is then in an undefined state.
Result<PassReport> run_passes(Graph& graph, const PassOptions& options);
// Runs the given lists instead of the canonical passes and the pipeline.
Result<PassReport> run_passes(Graph& graph, const PassOptions& options, std::span<const Pass> list,
                              std::span<const Pass> canonical = {});

}  // namespace rung
