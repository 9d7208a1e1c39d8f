// Holds a tuning file against the machine that it is for, and times its rows where there is a device.
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
  std::string format;  // of stacks/files; empty: the content says it
  // The machine: a card by its word, or a device. Neither: what holds on any machine.
  std::string gpu;
  std::optional<DeviceWord> device;
  // Who says which versions PyTorch has: its Python, or a file of results that it wrote. Neither: they are not looked
  // at.
  std::string python, validators;
  double budget_s = 60;               // for timing rows on the device
  std::function<bool()> interrupted;  // may be empty; rows after that are not timed
  std::function<void(const std::string& what, double fraction)> progress;
};

// Errors: those of reading the file and opening the device; a format or card that there is not, a device that runs no
// such files, a budget that is too small (usage); a PyTorch that does not answer, or is for another GPU.
Result<LintReport> lint_tuning_file(const LintTask& task);

}  // namespace rung::stacks
