// The profile of a plan on a GPU: every launch's device time against its floor, and the host's extra time per replay.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ladder/profile.hpp"

namespace rung {

// Profiles a session whose inputs are set and which has run once. Errors: the device failed; interrupted.
Result<Profile> profile_gpu_session(Session& session, const Interrupted& interrupted, const std::string& peaks_file);

// Returns peaks, measured once per process and device. Rates are the best that `peaks_file` has of such a device
// (best_of_kept()), except where instructions are counted: these are the same every time.
Result<Peaks> gpu_machine_peaks(const Target& target, const std::string& peaks_file);

}  // namespace rung
