// How durations of a device and text are written.
// SPDX-License-Identifier: Apache-2.0
#include "report/format.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace rung::report {
namespace {

TEST(Format, DurationsAreInUnitsOfTheDevicesClock) {
  EXPECT_EQ(duration_us(1500), "1.50 ms");
  EXPECT_EQ(duration_ms(9.38, Clock::instructions), "9,380 instructions");
  EXPECT_EQ(duration_ms(1234.5, Clock::instructions), "1.23 million instructions");
  EXPECT_EQ(duration_ms(NAN, Clock::instructions), kNone);
}

TEST(Printable, LeavesNoControlCharactersOrBrokenUtf8) {
  EXPECT_EQ(printable("a\x1b[31mb"), "a\ufffd[31mb");
  EXPECT_EQ(printable("a\nb\tc"), "a b c");
  EXPECT_EQ(printable("\xff\xc0\xaf\xe2\x82"), "\ufffd\ufffd\ufffd\ufffd\ufffd");
  EXPECT_EQ(printable("\u202etxt"), "\ufffdtxt");
  EXPECT_EQ(printable("é × 模型 😀"), "é × 模型 😀");
}

TEST(Shorten, CutsAtTheWidthAndSaysSo) {
  EXPECT_EQ(shorten("attention", 9), "attention");
  EXPECT_EQ(shorten("attention", 5), "atte…");
  EXPECT_EQ(shorten("ééééé", 3), "éé…");
}

}  // namespace
}  // namespace rung::report
