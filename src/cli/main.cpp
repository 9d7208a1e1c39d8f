// The tool's program.
// SPDX-License-Identifier: Apache-2.0
#include "cli/tool.hpp"

int main(int argc, char** argv) { return rung_tool(argc, argv); }
