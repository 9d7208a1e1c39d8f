// Programs in processes of their own: started with chosen streams, or run to their end for what they say.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <sys/types.h>

#include <string>
#include <vector>

#include "base/status.hpp"

namespace rung {

inline constexpr const char* kThisProgram = "/proc/self/exe";

// Descriptors that become the child's standard streams; -1: it shares this process's.
struct ChildStreams {
  int in = -1, out = -1, err = -1;
};

// Errors: no such program, no process available. Whoever starts it waits for it.
Result<pid_t> start_program(const std::string& path, const std::vector<std::string>& arguments,
                            const ChildStreams& streams);

struct Ended {
  int exit_code = -1;  // -1: a signal ended it, or it was still running
  std::string how;     // "exited with 1", "ended by a signal: Killed", "not done after 3 s"
  std::string errors;  // what it wrote to standard error
  std::string output;  // and to standard output
};

// With no input and its standard output thrown away; one that is not done after `seconds` is killed.
Result<Ended> run_program(const std::string& path, const std::vector<std::string>& arguments, double seconds);

// The same with its standard output kept and its errors thrown away; one that says more than kMaxTextBytes is killed.
Result<Ended> ask_program(const std::string& path, const std::vector<std::string>& arguments, double seconds);

}  // namespace rung
