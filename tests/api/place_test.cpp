// Which memory a session takes: the host's, and that of its own device, by kind and by index.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "api/tensors.hpp"

namespace rung {
namespace {

using testing::HasSubstr;

constexpr int32_t kManaged = 13;  // DLPack's kDLCUDAManaged

Result<Placed> bound_to(rung_device session, rung_device memory) {
  static float values[2];
  static int64_t shape[] = {2};
  const rung_tensor tensor{values, memory, 1, {RUNG_FLOAT, 32, 1}, shape, nullptr, sizeof(float)};
  auto found = place_of({"input", "x"}, Type{DType::f32, {2}}, tensor, session);
  if (found) {
    EXPECT_EQ(found->data, reinterpret_cast<std::byte*>(values) + sizeof(float));
  }
  return found;
}

std::string refused_by(rung_device session, rung_device memory) {
  auto found = bound_to(session, memory);
  if (found) return "";
  EXPECT_EQ(found.error().kind, ErrorKind::mismatch);
  return found.error().message;
}

TEST(PlaceOfMemory, IsTheHostOrTheSessionsDevice) {
  const rung_device second{RUNG_CUDA, 1};
  for (int32_t type : {RUNG_CPU, RUNG_ROCM_HOST}) {
    auto found = bound_to(second, {type, 0});
    ASSERT_TRUE(found) << found.error().message;
    EXPECT_EQ(found->place, Place::host) << type;
  }
  for (int32_t type : {int32_t{RUNG_CUDA}, kManaged}) {
    auto found = bound_to(second, {type, 1});
    ASSERT_TRUE(found) << found.error().message;
    EXPECT_EQ(found->place, Place::device) << type;
  }
}

TEST(PlaceOfMemory, IsPinnedOnlyForDevicesOfThatKind) {
  const auto place = [](int32_t session, int32_t memory) {
    auto found = bound_to({session, 1}, {memory, 0});
    EXPECT_TRUE(found);
    return found ? found->place : Place::device;
  };
  EXPECT_EQ(place(RUNG_CUDA, RUNG_CUDA_HOST), Place::pinned);
  EXPECT_EQ(place(RUNG_ROCM, RUNG_ROCM_HOST), Place::pinned);
  EXPECT_EQ(place(RUNG_ROCM, RUNG_CUDA_HOST), Place::host);
  EXPECT_EQ(place(RUNG_CPU, RUNG_CUDA_HOST), Place::host);
  EXPECT_EQ(place(RUNG_CPU, RUNG_ROCM_HOST), Place::host);
}

TEST(PlaceOfMemory, IsRefusedOnAnotherDevice) {
  const rung_device second{RUNG_CUDA, 1}, host{RUNG_CPU, 0};
  EXPECT_EQ(refused_by(second, {RUNG_CUDA, 0}), "input 'x': got memory of cuda:0, wanted the host's or that of cuda:1");
  EXPECT_THAT(refused_by(second, {kManaged, 0}), HasSubstr("memory of cuda:0"));
  EXPECT_THAT(refused_by(second, {RUNG_ROCM, 1}), HasSubstr("memory of hip:1"));
  EXPECT_THAT(refused_by(second, {7, 1}), HasSubstr("memory of device of DLPack's type 7"));
  EXPECT_EQ(refused_by(host, {RUNG_CUDA, 0}), "input 'x': got memory of cuda:0, wanted the host's");
}

}  // namespace
}  // namespace rung
