// One step as two strips: what the device did, and why it stood still.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "report/markup.hpp"
#include "trace/summary.hpp"

namespace rung::report {

std::string_view class_of(trace::Category category);
std::string_view class_of(trace::GapCause cause);

// Empty where no step is known. Neighbours of one kind that are too narrow to be seen apart are one piece.
Html timeline(const trace::Summary& summary);

}  // namespace rung::report
