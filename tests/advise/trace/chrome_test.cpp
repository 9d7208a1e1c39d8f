// PyTorch's traces and rung's own: what is kept, with which times, links and details, and what is left out.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "advise/trace/read.hpp"
#include "support/temporary_directory.hpp"

namespace rung::advise {
namespace {

Result<Recording> read_text(const std::string& text) {
  const TemporaryDirectory folder;
  folder.write("trace.json", text);
  return read_recording(folder / "trace.json");
}

TEST(ChromeTrace, IsRead) {
  const auto r =
      read_text(R"({"traceEvents":[{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":12.345,"dur":2.001,
   "args":{"correlation":5,"stream":7,"device":0,"grid":[1,2,3],"block":[4,5,6]}}]})");
  ASSERT_TRUE(r) << r.error().message;
  ASSERT_EQ(r->events.size(), 1u);
  EXPECT_EQ(r->events[0].start_ns, 12345);
}

}  // namespace
}  // namespace rung::advise
