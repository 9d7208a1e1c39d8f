// Puts a session where a sequence of runs begins.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "reference/sequence.hpp"
#include "session/session.hpp"

namespace rung {

// Gives the states of the session's plan the values with which the sequence begins, in the plan's types; those that
// `start` does not name get their initial values. Errors: a value of another shape (mismatch); the device failed.
Status begin_sequence(Session& session, const SequenceStart& start);

// Returns the number of tokens before the next run of a decoder: its state "position"; 0 where a plan has none.
Result<int64_t> tokens_before(Session& session);

}  // namespace rung
