// Draws one step as two strips: the device's work, and the causes of its idle time.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "report/markup.hpp"
#include "trace/summary.hpp"

namespace rung::report {

std::string_view class_of(trace::KernelCategory category);
std::string_view class_of(trace::GapCause cause);

// Returns nothing if no step is known. Joins neighbours of one kind that are too narrow to tell apart.
Html timeline(const trace::Summary& summary);

}  // namespace rung::report
