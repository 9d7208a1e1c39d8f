// The machine on which a measurement was made.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <map>
#include <string>

namespace rung {

// The keys are processor, microcode, cores, kernel, os, compiler, governor, frequency, load, hypervisor, memory and
// rung. A fact that the system does not tell is "unknown".
std::map<std::string, std::string> read_environment();

}  // namespace rung
