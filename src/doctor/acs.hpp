// Access control services of a PCI bridge, out of its configuration space (PCI Express Base Specification, ACS
// extended capability).
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <string_view>

namespace rung::doctor {

// "acs_control 0x001d": the capability's control register. Empty: the device has none, or the file ends before it, as
// it does for whoever is not root. Text of that form is given back.
std::string acs_control(std::string_view configuration);

}  // namespace rung::doctor
