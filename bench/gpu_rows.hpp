// Times GPU kernel rows one by one, as the tuner does.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

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

// Prints every row that takes the layers of Pi0 and BERT, on `device`, with weights colder than its cache, against its
// floor; `filter` is a part of a row's name, or an op. Errors: no such device, or it failed.
Status time_gpu_rows(const std::string& device, const std::string& filter);

}  // namespace rung
