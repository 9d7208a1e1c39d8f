// Whatever a library throws ends as an error in words.
// SPDX-License-Identifier: Apache-2.0
#include "base/guarded.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <thread>
#include <vector>

namespace rung {
namespace {

using testing::HasSubstr;

template <class Body>
Error thrown_by(const Body& body) {
  Status status = guarded([&]() -> Status {
    body();
    return {};
  });
  return status ? Error{"no error"} : status.error();
}
template <class Body>
std::string error_of(const Body& body) {
  return thrown_by(body).message;
}

TEST(Guarded, PassesAStatusThrough) {
  EXPECT_TRUE(guarded([] { return Status(); }));
  Status failed = guarded([]() -> Status { return wrong_usage("no"); });
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().message, "no");
  EXPECT_EQ(failed.error().kind, ErrorKind::usage);
}

TEST(Guarded, CallsMissingMemoryByItsName) {
  EXPECT_EQ(error_of([] { throw std::bad_alloc(); }), "out of memory");
  EXPECT_EQ(error_of([] { std::vector<int>().reserve(SIZE_MAX); }), "out of memory");
}

TEST(Guarded, HasTheKindMemoryOnlyForMissingMemory) {
  EXPECT_EQ(thrown_by([] { throw std::bad_alloc(); }).kind, ErrorKind::memory);
  EXPECT_EQ(thrown_by([] { std::vector<int>().reserve(SIZE_MAX); }).kind, ErrorKind::memory);
  EXPECT_EQ(thrown_by([] { throw std::system_error(ENOMEM, std::generic_category()); }).kind, ErrorKind::memory);
  EXPECT_EQ(thrown_by([] { throw std::system_error(EAGAIN, std::generic_category()); }).kind, ErrorKind::failed);
  EXPECT_EQ(thrown_by([] { throw 7; }).kind, ErrorKind::failed);
}

TEST(Guarded, PassesValuesThrough) {
  EXPECT_EQ(guarded([]() -> Result<int> { return 3; }), 3);
  EXPECT_FALSE(guarded([]() -> Result<int> { throw std::bad_alloc(); }));
}

TEST(Guarded, SaysWhatTheSystemRefused) {
  EXPECT_THAT(error_of([] { (void)std::filesystem::file_size("/nonexistent/file"); }),
              HasSubstr("the system refused: filesystem error: cannot get file size: No such file or directory"));
  EXPECT_THAT(error_of([] { throw std::system_error(EAGAIN, std::generic_category()); }),
              HasSubstr("the system refused: Resource temporarily unavailable"));
}

TEST(Guarded, OwnsUpToWhatNobodyForesaw) {
  EXPECT_THAT(error_of([] { (void)nlohmann::json("\xff").dump(); }), HasSubstr("a mistake in rung"));
  EXPECT_THAT(error_of([] { throw 7; }), HasSubstr("a mistake in rung"));
}

}  // namespace
}  // namespace rung
