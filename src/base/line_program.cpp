// Writes to a program by a socket, and reads from it by a pipe.
// SPDX-License-Identifier: Apache-2.0
#include "base/line_program.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>

#include "base/program.hpp"

namespace rung {
namespace {

using Clock = std::chrono::steady_clock;

constexpr size_t kLongestLine = size_t{64} << 20;  // a longer line is no answer

int milliseconds_until(Clock::time_point end) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now()).count();
  return left > 0 ? static_cast<int>(left) : 0;
}

}  // namespace

// The input is a socket: writing to a program that is gone is then no signal to this process.
Result<LineProgram> LineProgram::start(const std::string& path, const std::vector<std::string>& arguments,
                                       const std::string& errors) {
  std::array<int, 2> in{}, out{};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, in.data()) != 0)
    return fail("cannot start '{}': {}", path, std::strerror(errno));
  if (pipe2(out.data(), O_CLOEXEC) != 0) {
    close(in[0]), close(in[1]);
    return fail("cannot start '{}': {}", path, std::strerror(errno));
  }
  const int log = open(errors.c_str(), O_CREAT | O_WRONLY | O_APPEND | O_CLOEXEC, 0600);
  auto pid = start_program(path, arguments, {in[0], out[1], log});
  close(in[0]), close(out[1]);
  if (log >= 0) close(log);
  if (pid) return LineProgram(*pid, in[1], out[0]);
  close(in[1]), close(out[0]);
  return tl::unexpected(pid.error());
}

LineProgram::~LineProgram() {
  if (to_ >= 0) close(to_);
  if (from_ >= 0) close(from_);
  if (pid_ > 0) kill(pid_, SIGKILL), waitpid(pid_, nullptr, 0);
}

Status LineProgram::say(std::string_view line) {
  const std::string text = std::string(line) + '\n';
  for (size_t sent = 0; sent < text.size();) {
    const ssize_t some = ::send(to_, text.data() + sent, text.size() - sent, MSG_NOSIGNAL);
    if (some < 0 && errno == EINTR) continue;
    if (some < 0) return fail("{}", how_it_ended());
    sent += static_cast<size_t>(some);
  }
  return {};
}

Result<std::string> LineProgram::hear(double seconds) {
  const auto end = Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
  while (true) {
    if (const size_t at = read_.find('\n'); at != std::string::npos) {
      std::string line = read_.substr(0, at);
      read_.erase(0, at + 1);
      return line;
    }
    if (read_.size() > kLongestLine) return fail("said more than {} MB without a line break", kLongestLine >> 20);
    pollfd ready{from_, POLLIN, 0};
    const int polled = poll(&ready, 1, milliseconds_until(end));
    if (polled < 0 && errno == EINTR) continue;
    if (polled <= 0) return fail("said nothing for {:g} s", seconds);
    std::array<char, 4096> bytes{};
    const ssize_t got = read(from_, bytes.data(), bytes.size());
    if (got <= 0) return fail("{}", how_it_ended());
    read_.append(bytes.data(), static_cast<size_t>(got));
  }
}

// Says how a program ended that has closed its output, which may take a moment to end.
std::string LineProgram::how_it_ended() {
  int status = 0;
  pid_t ended = 0;
  for (int tries = 0; tries < 200 && ended == 0; ++tries) {
    ended = waitpid(pid_, &status, WNOHANG);
    if (ended == 0) usleep(5000);
  }
  if (ended <= 0) return "closed its output";
  pid_ = -1;
  if (WIFSIGNALED(status)) return fmt::format("ended by a signal: {}", strsignal(WTERMSIG(status)));
  return fmt::format("exited with {}", WEXITSTATUS(status));
}

}  // namespace rung
