// One step as two strips: what the device did, and why it stood still.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "advise/summary.hpp"
#include "report/markup.hpp"

namespace rung::report {

std::string_view class_of(advise::Category category);
std::string_view class_of(advise::GapCause cause);

// Empty where no step is known. Neighbours of one kind that are too narrow to be seen apart are one piece.
Html timeline(const advise::Summary& summary);

}  // namespace rung::report
