// Times GPU kernel rows one by one, as the tuner does.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

#include "base/status.hpp"
#include "ir/graph.hpp"
#include "kernels/problem.hpp"

namespace rung {

// What the last node of a graph in text asks of a kernel; inputs named "w..." are constants.
struct BenchProblem {
  Graph graph;
  NodeId node = kNoNode;
  Problem problem;
};
Result<BenchProblem> read_problem(const std::string& text, int threads);

// Prints every row that takes `problems` (graphs in text; none: the layers of Pi0 and BERT) on `device`, with weights
// colder than its cache, against its floor; `filter` is a part of a row's name, or an op. Errors: no such device, or it
// failed; a graph that does not parse.
Status time_gpu_rows(const std::string& device, const std::string& filter, std::vector<std::string> problems);

}  // namespace rung
