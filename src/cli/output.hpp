// Standard output of a command: text for people, or under --json exactly one JSON object, of an error too.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <nlohmann/json_fwd.hpp>

#include "base/status.hpp"
#include "measure/disturbance.hpp"

namespace rung::cli {

// The command's one object, on a line of its own. Bytes that are not UTF-8 are replaced.
void print_json(const nlohmann::json& object);

// Said before a command fails: what it found is neither a yes nor a no, so that its exit code is kUnclear.
inline constexpr int kUnclear = 3;
void found_unclear();

// A failed command's line on standard error. Where `json` is asked for and the command printed no object of its own,
// {"error": {"message": ..., "kind": ...}} on standard output. The exit code: 0 done, 1 the work failed, 2 wrong usage,
// 3 found_unclear().
int report(const Status& status, bool json);

// The line of a disturbed measurement; nothing where the machine was quiet.
void print_disturbance(const Disturbance& disturbance);

// Did the command print its object? A signal's handler asks, too.
bool printed_object();

// Printed text must have arrived: a full disk behind a redirection is a failure.
Status flushed();

// Is --json among the arguments? Asked before they are parsed: they may not parse.
bool asks_for_json(int argc, char** argv);

}  // namespace rung::cli
