// What a trace of PyTorch's profiler notes of collectives.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "support/temporary_directory.hpp"
#include "trace/recording/read.hpp"

namespace rung::trace {
namespace {

// The operands of one operation with these members of its "args".
OperandTexts noted(const std::string& members) {
  const TemporaryDirectory folder;
  folder.write("trace.json",
               R"({"traceEvents":[{"ph":"X","cat":"cpu_op","name":"record_param_comms","pid":1,"tid":1,"ts":1,"dur":2,)"
               R"("args":{)" +
                   members + "}}]}");
  const auto recording = read_recording(folder / "trace.json");
  EXPECT_TRUE(recording);
  if (!recording || recording->events.size() != 1) return {};
  return recording->operands[recording->events[0].detail];
}

TEST(ChromeCollectiveTest, RanksAndTheLargerMessage) {
  const OperandTexts texts = noted(
      R"("Collective name":"_allgather_base","In msg nelems":1024,"Out msg nelems":8192,"dtype":"BFloat16","Group size":8)");
  EXPECT_EQ(texts.ranks, 8u);
  EXPECT_EQ(texts.message_bytes, 16384);
}

TEST(ChromeCollectiveTest, AnEmptyMessageIsKnown) {
  EXPECT_EQ(noted(R"("In msg nelems":0,"Out msg nelems":0,"dtype":"Float8_e4m3fn","Group size":2)").message_bytes, 0);
}

TEST(ChromeCollectiveTest, OtherOperationsHaveNone) {
  const OperandTexts texts = noted(R"("Input Dims":[[4]])");
  EXPECT_EQ(texts.ranks, 0u);
  EXPECT_EQ(texts.message_bytes, -1);
}

TEST(ChromeCollectiveTest, WhatCannotBeMeantIsUnknown) {
  const OperandTexts negative =
      noted(R"("In msg nelems":-4,"Out msg nelems":-4,"dtype":"Float","Group size":-1,"Input Dims":[[4]])");
  EXPECT_EQ(negative.ranks, 0u);
  EXPECT_EQ(negative.message_bytes, -1);
  const OperandTexts huge = noted(R"("In msg nelems":9223372036854775807,"dtype":"Double","Group size":99999999999)");
  EXPECT_EQ(huge.ranks, 0u);
  EXPECT_EQ(huge.message_bytes, -1);
  EXPECT_EQ(noted(R"("In msg nelems":4,"dtype":"Quaternion","Group size":2)").message_bytes, -1);
  EXPECT_EQ(noted(R"("In msg nelems":"many","dtype":7,"Group size":2)").message_bytes, -1);
}

}  // namespace
}  // namespace rung::trace
