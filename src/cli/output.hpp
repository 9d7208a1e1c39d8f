// Standard output of a command: text for people, or under --json exactly one JSON object, for an error as well.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <nlohmann/json_fwd.hpp>

#include "base/status.hpp"
#include "measure/disturbance.hpp"

namespace rung::cli {

// Prints the command's one object, on a line of its own. Bytes that are not UTF-8 are replaced.
void print_json(const nlohmann::json& object);

// A command calls it before it fails with a result that is neither a yes nor a no, so that its exit code is kUnclear.
inline constexpr int kUnclear = 3;
void found_unclear();

// Prints a failed command's line on standard error. With `json`, and if the command printed no object of its own, it
// prints {"error": {"message": ..., "kind": ...}} on standard output. Returns the exit code: 0 done, 1 the work failed,
// 2 wrong usage, 3 found_unclear().
int report(const Status& status, bool json);

// Prints the line of a disturbed measurement; nothing if the machine was quiet.
void print_disturbance(const Disturbance& disturbance);

// Returns whether the command printed its object. A signal's handler asks, too.
bool printed_object();

// Checks that printed text arrived: a full disk behind a redirection is a failure.
Status flushed();

// Returns whether --json is among the arguments, before they are parsed: they may not parse.
bool asks_for_json(int argc, char** argv);

}  // namespace rung::cli
