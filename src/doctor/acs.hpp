// Reads access control services of a PCI bridge from its configuration space (PCI Express Base Specification, ACS
// extended capability).
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <string_view>

namespace rung::doctor {

// Returns the capability's control register as "acs_control 0x001d". Empty: the device has none, or the file ends
// before it, as it does for a reader who is not root. Text of that form is returned as it is.
std::string acs_control(std::string_view configuration);

}  // namespace rung::doctor
