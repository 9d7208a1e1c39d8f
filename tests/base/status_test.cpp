// Errors: their kinds and words, and what becomes of both on the way up.
// SPDX-License-Identifier: Apache-2.0
#include "base/status.hpp"

#include <gtest/gtest.h>

namespace rung {
namespace {

TEST(Status, OfEachKindHasItsFunctionAndWord) {
  const std::pair<Error, std::string_view> kinds[] = {{fail("{}", 1).value(), "failed"},
                                                      {wrong_usage("{}", 1).value(), "usage"},
                                                      {bad_file("{}", 1).value(), "file"},
                                                      {mismatch("{}", 1).value(), "mismatch"},
                                                      {no_memory("{}", 1).value(), "memory"},
                                                      {no_device("{}", 1).value(), "device"},
                                                      {device_fault("{}", 1).value(), "device_fault"},
                                                      {was_interrupted("{}", 1).value(), "interrupted"}};
  EXPECT_EQ(std::size(kinds), kErrorKindWords.size());
  for (const auto& [error, word] : kinds) {
    EXPECT_EQ(error.message, "1") << word;
    EXPECT_EQ(name_of(error.kind), word);
  }
}

TEST(Status, KeepsItsKindWhenWordsArePrepended) {
  const Error error = fail_in(Error{"no memory for 3 bytes", ErrorKind::memory}, "'{}': tensor '{}'", "f", "w").value();
  EXPECT_EQ(error.message, "'f': tensor 'w': no memory for 3 bytes");
  EXPECT_EQ(error.kind, ErrorKind::memory);
}

TEST(Status, TakesTheEnclosingKindUnlessItHasOne) {
  const Status none = fail("cut short"), memory = no_memory("no more");
  EXPECT_EQ(errors_of(ErrorKind::file, none).error().kind, ErrorKind::file);
  EXPECT_EQ(errors_of(ErrorKind::file, memory).error().kind, ErrorKind::memory);
  EXPECT_TRUE(errors_of(ErrorKind::file, Status()));
  EXPECT_EQ(errors_of(ErrorKind::file, Result<int>(3)), 3);
}

TEST(Status, IsADevicesFailureAfterAFaultAlone) {
  EXPECT_TRUE(device_failed(Status(device_fault("an illegal access"))));
  EXPECT_FALSE(device_failed(Status(no_device("no driver"))));
  EXPECT_FALSE(device_failed(Status(no_memory("too much"))));
  EXPECT_FALSE(device_failed(Status()));
}

}  // namespace
}  // namespace rung
