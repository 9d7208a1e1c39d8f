// A DLPack tensor is taken by a cast: its struct, as its own header has it, and rung's are the same bytes.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <cstddef>

#include "api/support.hpp"
#include "plan/build.hpp"
#include "plan/file.hpp"
#include "support/graphs.hpp"

namespace rung {
namespace {

// DLPack's, version 1: names and order of its header.
enum DLDeviceType : int32_t { kDLCPU = 1, kDLCUDA = 2, kDLCUDAHost = 3, kDLROCM = 10, kDLROCMHost = 11 };
enum DLDataTypeCode {
  kDLInt = 0,
  kDLUInt = 1,
  kDLFloat = 2,
  kDLBfloat = 4,
  kDLBool = 6,
  kDLFloat8_e4m3fn = 10,
  kDLFloat8_e4m3fnuz = 11,
};
struct DLDevice {
  DLDeviceType device_type;
  int32_t device_id;
};
struct DLDataType {
  uint8_t code;
  uint8_t bits;
  uint16_t lanes;
};
struct DLTensor {
  void* data;
  DLDevice device;
  int32_t ndim;
  DLDataType dtype;
  int64_t* shape;
  int64_t* strides;
  uint64_t byte_offset;
};

TEST(DLPackTensor, HasTheLayoutOfOurs) {
  EXPECT_EQ(sizeof(DLTensor), sizeof(rung_tensor));
  EXPECT_EQ(offsetof(DLTensor, device), offsetof(rung_tensor, device));
  EXPECT_EQ(offsetof(DLTensor, ndim), offsetof(rung_tensor, ndim));
  EXPECT_EQ(offsetof(DLTensor, dtype), offsetof(rung_tensor, dtype));
  EXPECT_EQ(offsetof(DLTensor, shape), offsetof(rung_tensor, shape));
  EXPECT_EQ(offsetof(DLTensor, strides), offsetof(rung_tensor, strides));
  EXPECT_EQ(offsetof(DLTensor, byte_offset), offsetof(rung_tensor, byte_offset));
  EXPECT_EQ(offsetof(DLDevice, device_id), offsetof(rung_device, index));
  EXPECT_EQ(offsetof(DLDataType, bits), offsetof(rung_dtype, bits));
  EXPECT_EQ(offsetof(DLDataType, lanes), offsetof(rung_dtype, lanes));
}

TEST(DLPackTensor, HasOurNumbers) {
  for (auto [theirs, ours] : {std::pair<int, int>{kDLCPU, RUNG_CPU},
                              {kDLCUDA, RUNG_CUDA},
                              {kDLCUDAHost, RUNG_CUDA_HOST},
                              {kDLROCM, RUNG_ROCM},
                              {kDLROCMHost, RUNG_ROCM_HOST},
                              {kDLInt, RUNG_INT},
                              {kDLUInt, RUNG_UINT},
                              {kDLFloat, RUNG_FLOAT},
                              {kDLBfloat, RUNG_BFLOAT},
                              {kDLBool, RUNG_BOOL},
                              {kDLFloat8_e4m3fn, RUNG_FLOAT8_E4M3FN},
                              {kDLFloat8_e4m3fnuz, RUNG_FLOAT8_E4M3FNUZ}})
    EXPECT_EQ(theirs, ours);
}

TEST(DLPackTensor, IsBoundByACast) {
  TemporaryDirectory folder;
  auto built = build_plan(graph_of("y = neg(x:f32[2,3])\nreturn y=y"), {});
  ASSERT_TRUE(built && save_plan(built->plan, folder / "plan.rung"));
  api::Session session = session_of(folder / "plan.rung");
  float values[7] = {9, 1, 2, 3, 4, 5, 6};
  int64_t shape[] = {2, 3}, strides[] = {3, 1};
  DLTensor tensor{values, {kDLCPU, 0}, 2, {kDLFloat, 32, 1}, shape, strides, sizeof(float)};
  api::Status bound = session.bind_input("x", *reinterpret_cast<const rung_tensor*>(&tensor));
  ASSERT_TRUE(bound) << bound.message();
  const auto y = session.output("y");
  ASSERT_TRUE(y && session.run());
  EXPECT_THAT(y->values<float>(), testing::ElementsAre(-1, -2, -3, -4, -5, -6));
}

}  // namespace
}  // namespace rung
