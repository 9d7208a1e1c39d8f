// Spawns a program, reads until the end or the deadline, and finds the cause of the end.
// SPDX-License-Identifier: Apache-2.0
#include "base/program.hpp"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>

#include "base/limits.hpp"

extern char** environ;

namespace rung {
namespace {

using Clock = std::chrono::steady_clock;

// Reads from `from` until its other end closes; false: the deadline came first, or there is too much to read.
bool read_until(int from, Clock::time_point end, std::string& text) {
  std::array<char, 4096> bytes{};
  while (true) {
    auto left = std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now());
    pollfd ready{from, POLLIN, 0};
    int polled = left.count() > 0 ? poll(&ready, 1, static_cast<int>(left.count())) : 0;
    if (polled < 0 && errno == EINTR) continue;
    if (polled <= 0) return false;
    ssize_t got = read(from, bytes.data(), bytes.size());
    if (got <= 0) return true;
    if (text.size() > kMaxTextBytes) return false;
    text.append(bytes.data(), static_cast<size_t>(got));
  }
}

void wait_for(pid_t child, Ended& ended) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status)) {
    ended.exit_code = WEXITSTATUS(status);
    ended.how = fmt::format("exited with {}", ended.exit_code);
  } else {
    ended.how = fmt::format("ended by a signal: {}", strsignal(WTERMSIG(status)));
  }
}

}  // namespace

Result<pid_t> start_program(const std::string& path, const std::vector<std::string>& arguments,
                            const ChildStreams& streams) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  for (auto [from, to] : {std::pair{streams.in, STDIN_FILENO}, std::pair{streams.out, STDOUT_FILENO},
                          std::pair{streams.err, STDERR_FILENO}})
    if (from >= 0) posix_spawn_file_actions_adddup2(&actions, from, to);
  std::vector<char*> argv{const_cast<char*>(path.c_str())};
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  pid_t pid = -1;
  int code = posix_spawn(&pid, path.c_str(), &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (code != 0) return fail("cannot start '{}': {}", path, std::strerror(code));
  return pid;
}

namespace {

// Runs a program and keeps the stream `heard`, its output or its errors.
Result<Ended> run(const std::string& path, const std::vector<std::string>& arguments, double seconds,
                  std::string Ended::*heard) {
  auto end = Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
  std::array<int, 2> said{};
  if (pipe2(said.data(), O_CLOEXEC) != 0) return fail("cannot start '{}': {}", path, std::strerror(errno));
  int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
  const bool output = heard == &Ended::output;
  auto child = start_program(path, arguments, {nowhere, output ? said[1] : nowhere, output ? nowhere : said[1]});
  close(said[1]), close(nowhere);
  Ended ended;
  bool in_time = child && read_until(said[0], end, ended.*heard);
  close(said[0]);
  if (!child) return tl::unexpected(child.error());
  if (!in_time) kill(*child, SIGKILL);
  wait_for(*child, ended);
  if (!in_time) ended.exit_code = -1, ended.how = fmt::format("not done after {:g} s", seconds);
  return ended;
}

}  // namespace

Result<Ended> run_program(const std::string& path, const std::vector<std::string>& arguments, double seconds) {
  return run(path, arguments, seconds, &Ended::errors);
}

Result<Ended> ask_program(const std::string& path, const std::vector<std::string>& arguments, double seconds) {
  return run(path, arguments, seconds, &Ended::output);
}

}  // namespace rung
