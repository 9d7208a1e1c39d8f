// A program that answers a line with a line: started, asked in turns, and ended together with its owner.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <sys/types.h>

#include <string>
#include <utility>
#include <vector>

#include "base/status.hpp"

namespace rung {

class LineProgram {
 public:
  // Starts a program, whose standard error goes to the end of the file `errors`. Errors: no such program, no process
  // available.
  static Result<LineProgram> start(const std::string& path, const std::vector<std::string>& arguments,
                                   const std::string& errors);
  ~LineProgram();
  LineProgram(LineProgram&& other) noexcept
      : pid_(std::exchange(other.pid_, -1)),
        to_(std::exchange(other.to_, -1)),
        from_(std::exchange(other.from_, -1)),
        read_(std::move(other.read_)) {}
  LineProgram& operator=(LineProgram&&) = delete;

  // Sends a line. Errors: the program has ended, and how.
  Status say(std::string_view line);
  // Returns its next line, without the line break. Errors: it ended, and how, or it was silent for that long.
  Result<std::string> hear(double seconds);

 private:
  LineProgram(pid_t pid, int to, int from) : pid_(pid), to_(to), from_(from) {}
  std::string how_it_ended();
  pid_t pid_;
  int to_, from_;
  std::string read_;  // text after the last line that was heard
};

}  // namespace rung
