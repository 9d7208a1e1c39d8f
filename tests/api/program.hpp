// A program's exit code and what it printed, as a shell runs it.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <string>

namespace rung {

struct Ran {
  int exit_code = -1;
  std::string out;  // standard error with it
};

inline Ran run_program_text(const std::string& program, const std::string& arguments) {
  FILE* pipe = popen((program + " " + arguments + " 2>&1").c_str(), "r");
  EXPECT_NE(pipe, nullptr);
  Ran ran;
  std::array<char, 256> part{};
  while (size_t n = std::fread(part.data(), 1, part.size(), pipe)) ran.out.append(part.data(), n);
  ran.exit_code = WEXITSTATUS(pclose(pipe));
  return ran;
}

}  // namespace rung
