// The tool as a function, for a program or for a library that several programs share.
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Parses the arguments, runs their command and returns the exit status: 0 done, 1 failed, 2 wrong usage. A process may
// call it once.
extern "C" int rung_tool(int argc, char** argv);
