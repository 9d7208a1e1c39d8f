// Ctrl-C ends a command, and SIGTERM and SIGHUP do likewise.
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace rung::cli {

// Makes SIGINT, SIGTERM and SIGHUP end the process by that signal, as the tool's caller expects, after the error's line
// and, under `json`, the error's object. A signal that the tool was started to ignore (nohup) stays ignored.
void catch_interrupts(bool json);

// Serves a command that can return early with a part of its result: while the object lives, the first of these signals
// only makes interrupted() true, and a second one ends the process.
class InterruptsAwaited {
 public:
  InterruptsAwaited();
  ~InterruptsAwaited();
  InterruptsAwaited(const InterruptsAwaited&) = delete;
  InterruptsAwaited& operator=(const InterruptsAwaited&) = delete;
};
bool interrupted();
// Ends the process by the signal that came while it was awaited, if any.
void end_if_interrupted();

}  // namespace rung::cli
