// Progress of work under way: a bar on a terminal, plain lines otherwise, all on standard error.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string>

namespace rung::cli {

class Progress {
 public:
  explicit Progress(bool quiet);
  ~Progress();  // clears the bar
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  // Fraction in [0,1]; the time left is guessed from it.
  void show(const std::string& what, double fraction);

 private:
  void bar(const std::string& what, double fraction);
  bool quiet_, terminal_;
  int64_t start_ns_;
  std::string last_;
};

// Sends the library's log to standard error.
void log_to_stderr(int level);
bool stdout_is_terminal();

}  // namespace rung::cli
