// The profile of a plan on a GPU: every launch's device time against its floor, and what the host adds per replay.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ladder/profile.hpp"

namespace rung {

// The session's inputs are set and it has run once. Errors: the device failed; interrupted.
Result<Profile> profile_gpu_session(Session& session, const Interrupted& interrupted, const std::string& peaks_file);

// Measured once per process and device. Rates are the best that `peaks_file` knows of such a device (best_of_kept()),
// but where instructions are counted: these are the same every time.
Result<Peaks> gpu_machine_peaks(const Target& target, const std::string& peaks_file);

}  // namespace rung
