// What code alone says of bank conflicts is what the emulator counts where the code runs.
// SPDX-License-Identifier: Apache-2.0
#include "amdgpu/analysis/accesses.hpp"
#include "amdgpu/analysis/blocks.hpp"
#include "amdgpu/code/assembly.hpp"
#include "support/amd_kernel.hpp"

namespace rung::amdgpu {
namespace {

using testing::AmdKernel;
using testing::Grid;

// Rows of several lengths are written a row a lane, and read a lane's neighbour's, in words and in four words.
constexpr const char* kRows = R"(
SHARED u32 words[64 * 36];
typedef u32 Quad __attribute__((ext_vector_type(4)));
template <int stride> DEVICE u32 pass(u32 value) {
  words[thread() * stride] = value;
  barrier();
  const u32 other = words[(63 - thread()) * stride + 1];
  barrier();
  return other;
}
template <int stride> DEVICE u32 pass_quads(u32 value) {
  Quad* quads = (Quad*)words;
  quads[thread() * stride] = Quad{value, value + 1, value + 2, value + 3};
  barrier();
  const Quad other = quads[(63 - thread()) * stride];
  barrier();
  return other.x ^ other.y ^ other.z ^ other.w;
}
KERNEL(64) rows(u32* out) {
  for (u32 at = thread(); at < 64 * 36; at += 64) words[at] = at;
  barrier();
  u32 value = pass<32>(thread());
  value = pass<33>(value), value = pass<2>(value), value = pass<1>(value);
  value = pass_quads<8>(value), value = pass_quads<9>(value), value = pass_quads<1>(value);
  out[thread()] = value;
}
)";

// What AmdKernel compiles, as text.
Listing listing_of_rows() {
  rung::TemporaryDirectory folder;
  const std::string source = folder.write("rows.hip", testing::kPrelude + std::string(kRows)), text = folder / "rows.s";
  const auto compiled =
      run_program(testing::kClang,
                  {"-x", "hip", "--offload-arch=gfx942", "--offload-device-only", "-nogpulib", "-nogpuinc", "-O3", "-S",
                   "--no-gpu-bundle-output", "-mcode-object-version=5", "-std=c++20", "-mllvm",
                   "-amdgpu-early-inline-all=true", "-mllvm", "-amdgpu-function-calls=false", "-o", text, source},
                  500);
  EXPECT_TRUE(compiled && compiled->exit_code == 0);
  std::ifstream in(text);
  const auto kernels = read_assembly(std::string(std::istreambuf_iterator<char>(in), {}), std::nullopt);
  EXPECT_TRUE(kernels && kernels->size() == 1);
  return kernels && !kernels->empty() ? kernels->front().listing : Listing{};
}

TEST(DerivedLanes, MeetTheBanksThatTheEmulatorCounts) {
  RUNG_NEEDS_CLANG();
  AmdKernel kernel(kRows, "rows", Isa::gfx942, {});
  const auto counts = kernel.run(Grid{.groups = {1}, .threads = {64}}, kernel.make<uint32_t>(64));
  const Listing listing = listing_of_rows();
  uint64_t cycles = 0;
  for (const Access& access : accesses_of(listing, blocks_of(listing))) {
    if (!access.lds) continue;
    ASSERT_TRUE(access.address) << "at " << listing.instructions[access.index].offset;
    cycles += conflict_cycles(access);
  }
  EXPECT_GT(cycles, 100u);
  EXPECT_EQ(cycles, counts.bank_conflict_cycles);
}

}  // namespace
}  // namespace rung::amdgpu
