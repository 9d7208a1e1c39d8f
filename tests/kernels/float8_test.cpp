// Conversions of floats of 8 bits in kernels, executed: every code, and floats of all sizes, ties and limits among
// them, against the definition of base/float8.hpp.
// SPDX-License-Identifier: Apache-2.0
#include "base/float8.hpp"

#include <gmock/gmock.h>

#include <cmath>

#include "support/amd_kernel.hpp"
#include "support/nvidia_kernel.hpp"

namespace rung {
namespace {

using amdgpu::Isa;
using amdgpu::testing::AmdKernel;

// Each thread turns four floats into a word of codes, and another word of codes into four floats.
std::string source(const std::string& pack, const std::string& unpack) {
  return R"~(#include "kernels/gpu/portable.cuh"
using namespace rung::gpu;
template <class F>
__device__ void convert(const float4* floats, uint32_t* to_codes, const uint32_t* codes, float4* to_floats) {
  const uint32_t i = blockIdx.x * 64 + threadIdx.x;
  to_codes[i] = )~" +
         pack + R"~(<F>(floats[i]);
  to_floats[i] = )~" +
         unpack + R"~(<F>(codes[i]);
}
RUNG_KERNEL(64) e4m3(const float4* a, uint32_t* b, const uint32_t* c, float4* d) { convert<f8e4m3>(a, b, c, d); }
RUNG_KERNEL(64) e5m2(const float4* a, uint32_t* b, const uint32_t* c, float4* d) { convert<f8e5m2>(a, b, c, d); }
)~";
}

// Numbers around those that codes stand for and halfway between two of them, floats of every exponent, limits, NaN.
template <class F>
std::vector<float> floats() {
  std::vector<float> all{0.0f,
                         INFINITY,
                         NAN,
                         std::numeric_limits<float>::max(),
                         std::numeric_limits<float>::min(),
                         std::numeric_limits<float>::denorm_min()};
  for (uint32_t code = 0; code + 1 < F::kMost; ++code) {
    F low, high;
    low.bits = static_cast<uint8_t>(code), high.bits = static_cast<uint8_t>(code + 1);
    const float a = static_cast<float>(low), middle = a + (static_cast<float>(high) - a) / 2;
    for (const float x : {a, middle, std::nextafter(middle, 0.0f), std::nextafter(middle, HUGE_VALF)}) all.push_back(x);
  }
  const auto most = [] {
    F code;
    code.bits = F::kMost;
    return static_cast<float>(code);
  }();
  for (const float by : {1.0f, 1.03f, 1.0625f, 1.125f, 2.0f}) all.push_back(most * by);
  for (uint32_t i = 0; i < 16384; ++i) all.push_back(std::bit_cast<float>(i << 17 | (i * 2654435761u >> 15)));
  const size_t positive = all.size();
  for (size_t i = 0; i < positive; ++i) all.push_back(-all[i]);
  all.resize((all.size() + 255) / 256 * 256, 1.0f);
  return all;
}

// The same number, zeros of one sign, or both are NaN.
bool same(float a, float b) {
  return std::isnan(a) ? std::isnan(b) : std::bit_cast<uint32_t>(a) == std::bit_cast<uint32_t>(b);
}

// What a kernel is given, and what it made of that.
struct Conversion {
  std::vector<float> floats;
  std::vector<uint8_t> codes;
  std::vector<uint8_t> to_codes;
  std::vector<float> to_floats;

  explicit Conversion(std::vector<float> of) : floats(std::move(of)), codes(floats.size()) {
    for (size_t i = 0; i < codes.size(); ++i) codes[i] = static_cast<uint8_t>(i);
    to_codes.resize(floats.size()), to_floats.resize(floats.size());
  }
  uint32_t groups() const { return static_cast<uint32_t>(floats.size() / 256); }
};

template <class F>
void expect_right(const Conversion& made) {
  for (size_t i = 0; i < made.floats.size() && !::testing::Test::HasFailure(); ++i) {
    F code, got;
    code.bits = made.codes[i], got.bits = made.to_codes[i];
    const float in = made.floats[i], out = made.to_floats[i];
    EXPECT_TRUE(same(out, static_cast<float>(code))) << "code " << int{code.bits} << ": " << out;
    EXPECT_TRUE(got.bits == F(in).bits || (std::isnan(in) && std::isnan(static_cast<float>(got))))
        << in << ": " << int{got.bits};
  }
}

// Returns what was executed.
template <class F>
amdgpu::Counts expect_conversions(const std::string& of, const std::string& kernel_name, Isa isa) {
  const std::string root = RUNG_SOURCE;
  AmdKernel kernel(of, kernel_name, isa, {"-I" + root + "/src", "-include", root + "/src/kernels/gpu/vendor/amd.cuh"});
  Conversion made(floats<F>());
  auto* to_codes = kernel.make<uint8_t>(made.codes.size());
  auto* to_floats = kernel.make<float>(made.floats.size());
  amdgpu::Counts counts = kernel.run({.groups = {made.groups()}, .threads = {64}}, kernel.make(made.floats), to_codes,
                                     kernel.make(made.codes), to_floats);
  made.to_codes.assign(to_codes, to_codes + made.codes.size());
  made.to_floats.assign(to_floats, to_floats + made.floats.size());
  expect_right<F>(made);
  return counts;
}

TEST(Float8OfKernels, IsOfTheMachinesFormat) {
  RUNG_NEEDS_CLANG();
  const std::string text = source("pack_4", "unpack_4");
  using amdgpu::Opcode;
  for (amdgpu::Counts counts : {expect_conversions<f8e4m3fnuz>(text, "e4m3", Isa::gfx942),
                                expect_conversions<f8e4m3fn>(text, "e4m3", Isa::gfx950)}) {
    EXPECT_EQ(counts.by_opcode[Opcode::v_cvt_pk_fp8_f32], 2 * counts.waves) << "two at a time";
    EXPECT_EQ(counts.by_opcode[Opcode::v_cvt_pk_f32_fp8], 2 * counts.waves);
  }
  for (amdgpu::Counts counts : {expect_conversions<f8e5m2fnuz>(text, "e5m2", Isa::gfx942),
                                expect_conversions<f8e5m2>(text, "e5m2", Isa::gfx950)}) {
    EXPECT_EQ(counts.by_opcode[Opcode::v_cvt_pk_bf8_f32], 2 * counts.waves);
    EXPECT_EQ(counts.by_opcode[Opcode::v_cvt_pk_f32_bf8], 2 * counts.waves);
  }
}

// What machines without such instructions compute: gfx90a, and NVIDIA's before 8.9.
TEST(Float8OfKernels, IsTheOpenFormatWhereItIsComputed) {
  RUNG_NEEDS_CLANG();
  const std::string text = source("software_pack_4", "software_unpack_4");
  for (const Isa isa : {Isa::gfx942, Isa::gfx950}) {
    expect_conversions<f8e4m3fn>(text, "e4m3", isa);
    expect_conversions<f8e5m2>(text, "e5m2", isa);
  }
}

template <class F>
Status convert_on(gpu::Gpu& gpu, const std::string& of, const std::string& kernel_name) {
  RUNG_TRY(auto kernel, testing::NvidiaKernel::make(gpu, of, kernel_name, RUNG_SOURCE "/src"));
  Conversion made(floats<F>());
  RUNG_TRY(const gpu::Address floats, kernel.put(made.floats));
  RUNG_TRY(const gpu::Address to_codes, kernel.put(made.to_codes));
  RUNG_TRY(const gpu::Address codes, kernel.put(made.codes));
  RUNG_TRY(const gpu::Address to_floats, kernel.put(made.to_floats));
  RUNG_CHECK(kernel.launch(made.groups(), 64, {floats, to_codes, codes, to_floats}));
  RUNG_CHECK(kernel.get(made.to_codes, to_codes));
  RUNG_CHECK(kernel.get(made.to_floats, to_floats));
  expect_right<F>(made);
  return {};
}

// By the machine's instructions from compute capability 8.9 on, and by bits.
TEST(GpuFloat8OfKernels, IsTheOpenFormat) {
  if (!testing::has_nvcc()) GTEST_SKIP() << "no " << testing::kNvcc;
  auto runtime = gpu::cuda_runtime();
  if (!runtime) GTEST_SKIP() << runtime.error().message;
  auto gpu = gpu::Gpu::open(**runtime, 0);
  ASSERT_TRUE(gpu) << gpu.error().message;
  for (const std::string prefix : {"", "software_"}) {
    const std::string text = source(prefix + "pack_4", prefix + "unpack_4");
    for (const Status& done : {convert_on<f8e4m3fn>(**gpu, text, "e4m3"), convert_on<f8e5m2>(**gpu, text, "e5m2")})
      EXPECT_TRUE(done) << done.error().message;
  }
}

}  // namespace
}  // namespace rung
