// After a fault of the device: which op was it?
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "base/status.hpp"
#include "cli/options.hpp"

namespace rung::cli {

// A fault of the device ends every later call of its process, and a graph does not say which of its launches it was.
// So where `status` is one, the plan that `common` and `more` make is run op by op (`rung run --stepwise`) by a program
// of its own, and what that finds is added to the error: the op, or that the fault did not come again. Any other status
// is given back as it is.
Status with_op_of_fault(Status status, const CommonOptions& common, const std::vector<std::string>& more = {});

}  // namespace rung::cli
