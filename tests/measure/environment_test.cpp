// The environment.
// SPDX-License-Identifier: Apache-2.0
#include "measure/environment.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/version.hpp"

namespace rung {
namespace {

using testing::HasSubstr;

TEST(Environment, TellsEveryFactOrSaysUnknown) {
  auto facts = read_environment();
  for (const char* name : {"processor", "microcode", "cores", "kernel", "os", "compiler", "governor", "frequency",
                           "load", "hypervisor", "memory", "rung"})
    EXPECT_FALSE(facts[name].empty()) << name;
  EXPECT_THAT(facts["kernel"], HasSubstr("Linux"));
  EXPECT_THAT(facts["memory"], HasSubstr("GiB"));
  EXPECT_EQ(facts["rung"], kRungVersion);
}

}  // namespace
}  // namespace rung
