// Compares a tuning file with its machine, and times its rows if there is a device.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <optional>
#include <string>

#include "kernels/device_word.hpp"
#include "stacks/lint/lint.hpp"

namespace rung::stacks {

struct LintTask {
  std::string file;
  std::string format;  // of stacks/files; empty: detected from the content
  // The machine: a card by its name, or a device. Neither: checks only what holds on any machine.
  std::string gpu;
  std::optional<DeviceWord> device;
  // The source of PyTorch's versions: its Python, or a file of results that it wrote. Neither: versions are not
  // checked.
  std::string python, validators;
  double budget_s = 60;               // for timing rows on the device
  std::function<bool()> interrupted;  // may be empty; the remaining rows are not timed
  std::function<void(const std::string& what, double fraction)> progress;
};

// Errors: those of reading the file and opening the device; an unknown format or card, a device that runs no such
// files, a budget that is too small (usage); a PyTorch that does not answer, or is for another GPU.
Result<LintReport> lint_tuning_file(const LintTask& task);

}  // namespace rung::stacks
