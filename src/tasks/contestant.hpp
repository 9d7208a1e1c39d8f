// One side of a comparison: what can be timed, run by run, and asked for its outputs.
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
  // Seconds of the median run of a block. Errors: those of the run.
  virtual Result<double> block() = 0;
  // Starts again, as another process or session would: where its memory and threads lie is by chance, costs or saves
  // some per cent of a small model's time, and stays as it is for as long as they live. Errors: those of its first
  // start.
  virtual Status renew() = 0;
  // The outputs of a run on the inputs that the contestant was made with.
  virtual Result<NamedTensors> outputs() = 0;
};

// In this process: sessions over the plan, with these inputs, which must outlive it.
Result<std::unique_ptr<Contestant>> contestant_of(std::shared_ptr<const Plan> plan, const NamedTensors& inputs);

// Another build of the tool, in processes of its own.
struct OtherTool {
  std::string program;                 // its file
  std::vector<std::string> arguments;  // the model or plan, and what is said of it beside its inputs
  std::string inputs;                  // a .npz file
  std::string scratch;                 // a path that this side alone has: names of further files begin with it
};
// A block is of `bench --blocks` of that tool; outputs() asks its `run`. Errors end with its own error line.
Result<std::unique_ptr<Contestant>> contestant_of(OtherTool tool);

// The version that such a program tells.
Result<std::string> version_of_tool(const std::string& program, const std::string& scratch);

}  // namespace rung::tasks
