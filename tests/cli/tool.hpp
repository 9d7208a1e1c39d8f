// Runs the built tool in a process of its own and keeps what it printed.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <set>
#include <string>
#include <vector>

#include "base/atomic_file.hpp"
#include "support/temporary_directory.hpp"

namespace rung {

struct Ran {
  int exit_code = -1;  // 128 + signal, if one ended it
  std::string out, err;
};

// A scratch folder whose cache folder the tool uses, and processes that run in it.
class Tool {
 public:
  const TemporaryDirectory& folder() const { return folder_; }
  std::string operator/(std::string_view name) const { return folder_ / name; }

  struct Process {
    pid_t pid = -1;
    std::string out, err;  // files
  };
  // Processes started from now on ignore this signal, as nohup has them do. They ignore no other, whatever the tests
  // were started to ignore: a shell has what it starts in the background ignore Ctrl-C.
  void ignore(int signal) { ignored_.insert(signal); }
  // The address space of processes started from now on, in bytes.
  void limit_memory(rlim_t bytes) { memory_ = bytes; }
  // The stack of processes started from now on, in bytes, and how far they may raise it.
  void limit_stack(rlim_t bytes, rlim_t most) { stack_ = {bytes, most}; }
  // How large files of processes started from now on may become, in bytes.
  void limit_files(rlim_t bytes) { files_ = bytes; }
  Process start(const std::vector<std::string>& arguments, const std::string& standard_output = "") {
    std::string name = "process" + std::to_string(++started_);
    Process process{-1, standard_output.empty() ? folder_ / (name + ".out") : standard_output,
                    folder_ / (name + ".err")};
    process.pid = fork();
    if (process.pid == 0) become_tool(arguments, process);
    return process;
  }
  static Ran wait(const Process& process) {
    int status = 0;
    EXPECT_EQ(waitpid(process.pid, &status, 0), process.pid);
    auto text = [](const std::string& path) { return read_text_file(path).value_or(std::string()); };
    return {WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status), text(process.out), text(process.err)};
  }
  Ran run(const std::vector<std::string>& arguments, const std::string& standard_output = "") {
    return wait(start(arguments, standard_output));
  }

 private:
  [[noreturn]] void become_tool(const std::vector<std::string>& arguments, const Process& process) {
    dup2(open(process.out.c_str(), O_CREAT | O_WRONLY, 0644), STDOUT_FILENO);
    dup2(open(process.err.c_str(), O_CREAT | O_WRONLY | O_APPEND, 0644), STDERR_FILENO);
    for (int signal : {SIGINT, SIGTERM, SIGHUP, SIGXFSZ})
      std::signal(signal, ignored_.contains(signal) ? SIG_IGN : SIG_DFL);
    setenv("RUNG_CACHE_DIR", (folder_ / "cache").c_str(), 1);
    std::vector<std::string> all{RUNG_TOOL};
    all.insert(all.end(), arguments.begin(), arguments.end());
    std::vector<char*> argv;
    for (auto& argument : all) argv.push_back(argument.data());
    argv.push_back(nullptr);
    const rlimit memory{memory_, memory_}, files{files_, files_};
    if (memory_ != RLIM_INFINITY && setrlimit(RLIMIT_AS, &memory) != 0) _exit(126);
    if (files_ != RLIM_INFINITY && setrlimit(RLIMIT_FSIZE, &files) != 0) _exit(126);
    if (stack_.rlim_cur != RLIM_INFINITY && setrlimit(RLIMIT_STACK, &stack_) != 0) _exit(126);
    execv(RUNG_TOOL, argv.data());
    _exit(127);
  }
  TemporaryDirectory folder_;
  int started_ = 0;
  std::set<int> ignored_;
  rlimit stack_{RLIM_INFINITY, RLIM_INFINITY};
  rlim_t memory_ = RLIM_INFINITY, files_ = RLIM_INFINITY;
};

inline std::string bert_tiny() { return std::string(RUNG_TEST_DATA) + "/bert_tiny"; }

constexpr const char* kShape = "input_ids=1,9";  // as its inputs.npz

// The error line; empty, and a failed test, unless there is exactly one and it comes last.
inline std::string error_line(const Ran& ran) {
  size_t at = ran.err.find("rung: error: ");
  EXPECT_NE(at, ran.err.npos) << "standard error: " << ran.err;
  if (at == ran.err.npos) return "";
  std::string line = ran.err.substr(at);
  EXPECT_EQ(line.find('\n'), line.size() - 1) << "more than one line: " << line;
  EXPECT_LT(line.size(), 600u) << line;
  return line;
}

// Failed with that exit code, said why in one line, and printed no result.
inline void expect_error(const Ran& ran, int exit_code, const std::string& message) {
  EXPECT_EQ(ran.exit_code, exit_code);
  EXPECT_EQ(ran.out, "");
  EXPECT_THAT(error_line(ran), testing::HasSubstr(message));
}

inline bool is_empty(const std::string& directory) {
  std::error_code error;
  return !std::filesystem::exists(directory) || std::filesystem::is_empty(directory, error);
}

}  // namespace rung
