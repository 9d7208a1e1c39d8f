// Reads Kineto's notes on a collective beside its operation: the group's size and the message's.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "trace/recording/chrome_event.hpp"
#include "trace/recording/recording.hpp"

namespace rung::trace {

// Fills in `ranks` and `message_bytes`; missing and implausible values stay unknown.
void note_collective(const ChromeEvent& event, OperandTexts& texts);

}  // namespace rung::trace
