// Programs in processes of their own: started with chosen streams, or run to their end for their output.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <sys/types.h>

#include <string>
#include <vector>

#include "base/status.hpp"

namespace rung {

inline constexpr const char* kThisProgram = "/proc/self/exe";

// Descriptors that become the child's standard streams; -1: the child shares this process's.
struct ChildStreams {
  int in = -1, out = -1, err = -1;
};

// Starts a program, for which the caller waits. Errors: no such program, no process available.
Result<pid_t> start_program(const std::string& path, const std::vector<std::string>& arguments,
                            const ChildStreams& streams);

struct Ended {
  int exit_code = -1;  // -1: a signal ended it, or it was still running
  std::string how;     // "exited with 1", "ended by a signal: Killed", "not done after 3 s"
  std::string errors;  // its standard error
  std::string output;  // its standard output
};

// Runs a program without input, throws its standard output away, and kills it if it is not done after `seconds`.
Result<Ended> run_program(const std::string& path, const std::vector<std::string>& arguments, double seconds);

// Does the same, but keeps standard output and throws errors away; kills a program that prints over kMaxTextBytes.
Result<Ended> ask_program(const std::string& path, const std::vector<std::string>& arguments, double seconds);

}  // namespace rung
