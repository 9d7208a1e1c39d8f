// Ctrl-C ends a command, and SIGTERM and SIGHUP do likewise.
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace rung::cli {

// From now on SIGINT, SIGTERM and SIGHUP end the process by that signal, as whoever started the tool expects of it,
// after the line that every error has, and, where `json` is asked for, the object. One that the tool was started to
// ignore (nohup) stays ignored.
void catch_interrupts(bool json);

// For a command that gives what it has by then: while it lives, the first of these signals only sets what interrupted()
// says, and a second one ends the process.
class InterruptsAwaited {
 public:
  InterruptsAwaited();
  ~InterruptsAwaited();
  InterruptsAwaited(const InterruptsAwaited&) = delete;
  InterruptsAwaited& operator=(const InterruptsAwaited&) = delete;
};
bool interrupted();
// Where a signal came while it was awaited: ends the process by it.
void end_if_interrupted();

}  // namespace rung::cli
