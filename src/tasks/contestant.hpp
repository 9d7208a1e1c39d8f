// One side of a comparison: it can be timed, run by run, and asked for its outputs.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "session/session.hpp"

namespace rung::tasks {

class Contestant {
 public:
  virtual ~Contestant() = default;
  // Returns the seconds of the median run of a block. Errors: those of the run.
  virtual Result<double> block() = 0;
  // Starts again, as a new process or session: the placement of memory and threads is random, costs or saves some per
  // cent of a small model's time, and lasts as long as the process or session. Errors: those of its first start.
  virtual Status renew() = 0;
  // Returns the outputs of a run on the inputs that the contestant was made with.
  virtual Result<NamedTensors> outputs() = 0;
};

// Makes a side that runs in this process: sessions over the plan, with these inputs, which must outlive it.
Result<std::unique_ptr<Contestant>> contestant_of(std::shared_ptr<const Plan> plan, const NamedTensors& inputs);

// Another build of the tool, run in separate processes.
struct OtherTool {
  std::string program;                 // its file
  std::vector<std::string> arguments;  // the model or plan, and its options except the inputs
  std::string inputs;                  // a .npz file
  std::string scratch;                 // a path that only this side has: it begins the names of further files
};
// Times blocks with `bench --blocks` of that tool; outputs() calls its `run`. Errors end with the tool's error line.
Result<std::unique_ptr<Contestant>> contestant_of(OtherTool tool);

// Returns the version that the program prints.
Result<std::string> version_of_tool(const std::string& program, const std::string& scratch);

}  // namespace rung::tasks
