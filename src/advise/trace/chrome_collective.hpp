// What Kineto notes of a collective beside its operation: the group's size and the message's.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "advise/trace/chrome_event.hpp"
#include "advise/trace/recording.hpp"

namespace rung::advise {

// Fills in `ranks` and `message_bytes`; what is not noted, or cannot be meant, stays unknown.
void note_collective(const ChromeEvent& event, OperandTexts& texts);

}  // namespace rung::advise
