// Runs the parts of the analysis in order.
// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/accounting.hpp"
#include "trace/analysis/launch_calls.hpp"
#include "trace/analysis/steps.hpp"

namespace rung::trace {

Analysis analyse(const Recording& recording) {
  Analysis analysis(recording);
  analysis.around = innermost_around(recording);
  DeviceWork device = busiest_device(recording, analysis.around);
  analysis.steps = host_steps(recording, analysis.around, device);
  place_on_device(analysis.steps, recording, device);
  set_outliers_apart(analysis.steps);
  analysis.launches = count_launches(recording, analysis.steps, device);
  account(analysis, std::move(device));
  return analysis;
}

}  // namespace rung::trace
