// rung tune-worker: measures kernel candidates for a climb that started it; not for people.
// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include "cli/command.hpp"
#include "tune/gpu_worker.hpp"

namespace rung::cli {

std::pair<CLI::App*, Run> tune_worker_command(CLI::App& app) {
  auto* command = add_command(app, kWorkerCommand, "measure kernel candidates for the climb that started this");
  hide(*command);
  return {command, [] { return serve_trials(STDIN_FILENO, STDOUT_FILENO); }};
}

}  // namespace rung::cli
