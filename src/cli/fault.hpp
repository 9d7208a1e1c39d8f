// Finds the op that was running when the device had a fault.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "base/status.hpp"
#include "cli/options.hpp"

namespace rung::cli {

// Adds the op to the error if `status` is a fault of the device. Such a fault ends every later call of its process, and
// a graph does not say at which of its launches it happened. So a program of its own runs the plan of `common` and
// `more` op by op (`rung run --stepwise`), and the error names the op, or says that the fault did not come again. Any
// other status is returned as it is.
Status with_op_of_fault(Status status, const CommonOptions& common, const std::vector<std::string>& more = {});

}  // namespace rung::cli
