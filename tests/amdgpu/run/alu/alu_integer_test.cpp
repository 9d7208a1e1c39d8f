// Vector instructions on integers, each against numbers worked out from the words of the instruction set's guide.
// SPDX-License-Identifier: Apache-2.0
#include <random>

#include "alu_fixture.hpp"

namespace rung::amdgpu {
namespace {

using enum Opcode;
constexpr uint64_t kOnes = 0xffffffff;

TEST(AluInteger, SumsWrapAndSaturateByClamp) {
  expect_lanes(v_add_u32, {{{1, 2}, 3}, {{kOnes, 1}, 0}, {{0x80000000, 0x80000000}, 0}});
  expect_lanes(v_sub_u32, {{{3, 2}, 1}, {{0, 1}, kOnes}});
  expect_lanes(v_subrev_u32, {{{2, 3}, 1}, {{1, 0}, kOnes}});
  const Instruction clamp{.clamp = true};
  expect_lanes(v_add_u32, {{{1, 2}, 3}, {{kOnes, 1}, kOnes}, {{0x80000000, 0x80000000}, kOnes}}, clamp);
  expect_lanes(v_sub_u32, {{{3, 2}, 1}, {{0, 1}, 0}}, clamp);
  expect_lanes(v_add_i32, {{{0x7fffffff, 1}, 0x7fffffff}, {{0x80000000, kOnes}, 0x80000000}, {{5, kOnes}, 4}}, clamp);
  expect_lanes(v_sub_i32, {{{0x80000000, 1}, 0x80000000}, {{0x7fffffff, kOnes}, 0x7fffffff}, {{5, 6}, kOnes}}, clamp);
  expect_lanes(v_add_u16, {{{0xffff, 1}, 0xffff}, {{0x1234ffff, 0x10001}, 0xffff}, {{3, 4}, 7}}, clamp);
  expect_lanes(v_add_u16, {{{0xffff, 1}, 0}, {{0x1234ffff, 0x10001}, 0}});  // the upper half becomes 0
  expect_lanes(v_sub_i16, {{{0x8000, 1}, 0x8000}, {{0x7fff, 0xffff}, 0x7fff}}, clamp);
}

TEST(AluInteger, CarriesGoToTheirMaskAndBack) {
  OneWave wave;
  const uint32_t a[] = {kOnes, 1, 0x80000000, 7}, b[] = {1, 2, 0x80000000, kOnes};
  for (int l = 0; l < 4; ++l) wave.set(10, l, a[l]), wave.set(12, l, b[l]);
  wave.w.set_exec(0xf);
  wave.run(instruction(v_add_co_u32, v(2), {v(10), v(12)}));
  EXPECT_EQ(wave.pair(20), 0b1101u);
  wave.run(instruction(v_addc_co_u32, v(3), {v(10), v(12), s(20, 2)}));
  for (int l = 0; l < 4; ++l) EXPECT_EQ(wave.get(3, l), a[l] + b[l] + (0b1101u >> l & 1)) << l;
  EXPECT_EQ(wave.pair(20), 0b1101u);
  wave.set_pair(30, 0b1010);
  wave.run(instruction(v_subb_co_u32, v(3), {v(10), v(12), s(30, 2)}));
  EXPECT_EQ(wave.get(3, 1), 1u - 2 - 1);
  EXPECT_EQ(wave.pair(20), 0b1010u);  // 1 - 2 - 1 and 7 - 0xffffffff - 1 borrow
  wave.run(instruction(v_subbrev_co_u32, v(3), {v(10), v(12), s(30, 2)}));
  EXPECT_EQ(wave.get(3, 1), 2u - 1 - 1);
  EXPECT_EQ(wave.pair(20), 0b0001u);
}

TEST(AluInteger, ProductsOf24And32Bits) {
  expect_lanes(v_mul_lo_u32, {{{0x10001, 0x10001}, 0x20001}});
  expect_lanes(v_mul_hi_u32, {{{kOnes, kOnes}, 0xfffffffe}});
  expect_lanes(v_mul_hi_i32, {{{kOnes, kOnes}, 0}, {{kOnes, 1}, kOnes}, {{0x80000000, 0x80000000}, 0x40000000}});
  expect_lanes(v_mul_u32_u24, {{{0xff000003, 5}, 15}, {{0xffffff, 0xffffff}, 0xfe000001}});
  expect_lanes(v_mul_i32_i24, {{{0xffffff, 5}, 0xfffffffb}, {{0x800000, 2}, 0xff000000}});
  expect_lanes(v_mul_hi_i32_i24, {{{0xffffff, 1}, kOnes}, {{0x800000, 0x800000}, 0x4000}});
  expect_lanes(v_mul_hi_u32_u24, {{{0xffffff, 0xffffff}, 0xffff}});
  expect_lanes(v_mad_i32_i24, {{{0xffffff, 5, 7}, 2}, {{0x123456, 0x10, 1}, 0x1234561}});
  expect_lanes(v_mad_u32_u24, {{{0xffffff, 0x100, 1}, 0xffffff01}, {{0xffffff, 0xffffff, kOnes}, 0xfe000000}});
  expect_lanes(v_mad_u32_u24, {{{0xffffff, 0xffffff, kOnes}, kOnes}, {{2, 3, 4}, 10}}, {.clamp = true});
  expect_lanes(v_mad_u32_u16, {{{0xffff, 0xffff, 2}, 0xfffe0003}});
  expect_lanes(v_mad_i32_i16, {{{0xffff, 3, 1}, 0xfffffffe}});
}

TEST(AluInteger, WideMultiplyAddsCarryTheir65thBit) {
  OneWave wave;
  wave.set(10, 0, kOnes), wave.set(12, 0, kOnes), wave.set64(14, 0, ~uint64_t{0});
  wave.set(10, 1, 3), wave.set(12, 1, 4), wave.set64(14, 1, 5);
  wave.run(instruction(v_mad_u64_u32, v(2, 2), {v(10), v(12), v(14, 2)}));
  EXPECT_EQ(wave.get64(2, 0), 0xfffffffe00000000u);
  EXPECT_EQ(wave.get64(2, 1), 17u);
  EXPECT_EQ(wave.pair(20) & 3, 1u);
  wave.run(instruction(v_mad_i64_i32, v(2, 2), {v(10), v(12), v(14, 2)}));  // -1 * -1 + -1
  EXPECT_EQ(wave.get64(2, 0), 0u);
  EXPECT_EQ(wave.pair(20) & 1, 0u);
  wave.set64(14, 0, uint64_t{1} << 63);
  wave.run(instruction(v_mad_i64_i32, v(2, 2), {v(10), v(12), v(14, 2)}));
  EXPECT_EQ(wave.pair(20) & 1, 1u);  // the exact sum is negative
}

TEST(AluInteger, Shifts) {
  expect_lanes(v_lshlrev_b32, {{{4, 0x11}, 0x110}, {{36, 0x11}, 0x110}, {{31, 3}, 0x80000000}});
  expect_lanes(v_lshrrev_b32, {{{4, 0x80000010}, 0x8000001}});
  expect_lanes(v_ashrrev_i32, {{{4, 0x80000010}, 0xf8000001}});
  expect_lanes(v_lshlrev_b64, {{{36, 0x11}, 0x11000000000}, {{68, 1}, 16}});
  expect_lanes(v_lshrrev_b64, {{{36, 0x8000000000000000}, 0x8000000}});
  expect_lanes(v_ashrrev_i64, {{{36, 0x8000000000000000}, 0xfffffffff8000000}});
  expect_lanes(v_lshlrev_b16, {{{4, 0xffff1234}, 0x2340}, {{20, 0x1234}, 0x2340}});
  expect_lanes(v_ashrrev_i16, {{{4, 0x8000}, 0xf800}});
  expect_lanes(v_lshl_add_u32, {{{3, 4, 5}, 53}});
  expect_lanes(v_add_lshl_u32, {{{3, 4, 5}, 224}});
  expect_lanes(v_lshl_or_b32, {{{3, 4, 5}, 0x35}});
  expect_lanes(v_lshl_add_u64, {{{0x100000001, 3, 5}, 0x80000000d}, {{~uint64_t{0}, 0, 1}, 0}});
  expect_lanes(v_alignbit_b32, {{{0x12345678, 0x9abcdef0, 8}, 0x789abcde}, {{1, 2, 32}, 2}});
  expect_lanes(v_alignbyte_b32, {{{0x12345678, 0x9abcdef0, 1}, 0x789abcde}, {{1, 2, 4}, 2}});
}

TEST(AluInteger, FieldsAndCounts) {
  expect_lanes(v_bfe_u32, {{{0xabcd1234, 4, 8}, 0x23}, {{kOnes, 28, 8}, 0xf}, {{kOnes, 0, 32}, 0}});
  expect_lanes(v_bfe_i32, {{{0x0000f0, 4, 4}, kOnes}, {{0x70, 4, 4}, 7}, {{0x80000000, 28, 8}, 0xfffffff8}});
  expect_lanes(v_bfi_b32, {{{0xff00ff00, 0x12345678, 0x9abcdef0}, 0x12bc56f0}});
  expect_lanes(v_bfm_b32, {{{8, 4}, 0xff0}, {{0, 3}, 0}});
  expect_lanes(v_bfrev_b32, {{{0x1}, 0x80000000}, {{0x12345678}, 0x1e6a2c48}});
  expect_lanes(v_ffbh_u32, {{{0}, kOnes}, {{1}, 31}, {{0x80000000}, 0}});
  expect_lanes(v_ffbh_i32, {{{0}, kOnes}, {{kOnes}, kOnes}, {{1}, 31}, {{0x80000000}, 1}, {{0xffffff00}, 24}});
  expect_lanes(v_ffbl_b32, {{{0}, kOnes}, {{0x80000000}, 31}, {{12}, 2}});
  expect_lanes(v_bcnt_u32_b32, {{{0xf0f0, 3}, 11}, {{kOnes, 0}, 32}});
}

TEST(AluInteger, BytesArePicked) {
  const uint64_t a = 0x11c03344, b = 0x557788f6;
  expect_lanes(v_perm_b32, {{{a, b, 0x03020100}, b},
                            {{a, b, 0x07060504}, a},
                            {{a, b, 0x0c0d0004}, 0x00fff644},
                            {{a, b, 0x0b0a0908}, 0x000000ff},  // signs of a's and b's halves
                            {{0xc0000000, b, 0x0b0a0908}, 0xff0000ff},
                            {{0x00008000, 0x80000000, 0x0b0a0908}, 0x00ffff00}});
}

TEST(AluInteger, MedianAndExtremes) {
  expect_lanes(v_med3_i32, {{{kOnes, 5, 1}, 1}, {{3, 2, 1}, 2}, {{1, 1, 9}, 1}});
  expect_lanes(v_med3_u32, {{{kOnes, 5, 1}, 5}});
  expect_lanes(v_min3_i32, {{{3, kOnes, 2}, kOnes}});
  expect_lanes(v_max3_u32, {{{3, kOnes, 2}, kOnes}});
  expect_lanes(v_min_i16, {{{0xffff, 1}, 0xffff}});
  expect_lanes(v_max_u16, {{{0xffff, 1}, 0xffff}});
}

TEST(AluInteger, SumsOfDifferences) {
  expect_lanes(v_sad_u8, {{{0x01020304, 0x04030201, 10}, 18}});
  expect_lanes(v_sad_hi_u8, {{{0x01020304, 0x04030201, 10}, 0x8000a}});
  expect_lanes(v_sad_u16, {{{0x00010005, 0x00030002, 1}, 6}});
  expect_lanes(v_sad_u32, {{{5, 8, 1}, 4}});
  expect_lanes(v_msad_u8, {{{0x01020304, 0x04000201, 10}, 17}});
  expect_lanes(v_lerp_u8, {{{0x04030201, 0x05050505, 0x01000001}, 0x05040303}});
}

TEST(AluInteger, DotProductsOfBytesAndNibbles) {
  expect_lanes(v_dot4_i32_i8, {{{0xff020304, 0x02010101, 100}, 107}, {{0x80808080, 0x80808080, 0}, 65536}});
  expect_lanes(v_dot4_u32_u8, {{{0xff020304, 0x02010101, 1}, 520}});
  expect_lanes(v_dot8_i32_i4, {{{0xf0000001, 0x20000003, 5}, 6}});
  expect_lanes(v_dot8_u32_u4, {{{0xf0000001, 0x20000003, 5}, 38}});
  expect_lanes(v_dot2_i32_i16, {{{0xffff0003, 0x00020005, 1}, 14}});
  expect_lanes(v_dot4_i32_i8, {{{0x7f, 0x7f, 0x7fffffff}, 0x7fffffff}}, {.clamp = true});
  expect_lanes(v_dot4c_i32_i8, {{{0x03, 0x04, 30}, 42}});
}

TEST(AluInteger, TruthTablesOfThreeBits) {
  const uint64_t a = 0xf0, b = 0xcc, c = 0xaa;  // whose bits run through all eight rows of the table
  for (int table = 0; table < 256; ++table) {
    OneWave wave;
    wave.set(10, 0, a), wave.set(12, 0, b), wave.set(14, 0, c);
    Instruction i = instruction(v_bitop3_b32, v(2), {v(10), v(12), v(14)});
    i.immediate = table;
    wave.run(i);
    EXPECT_EQ(wave.get(2, 0) & 0xff, static_cast<uint32_t>(table));
  }
}

TEST(AluInteger, LanesBelowAreCounted) {
  OneWave wave;
  wave.run(instruction(v_mbcnt_lo_u32_b32, v(2), {constant(kOnes), constant(0)}));
  wave.run(instruction(v_mbcnt_hi_u32_b32, v(2), {constant(kOnes), v(2)}));
  for (int l = 0; l < 64; ++l) EXPECT_EQ(wave.get(2, l), static_cast<uint32_t>(l));
  wave.run(instruction(v_mbcnt_lo_u32_b32, v(3), {constant(0x5), constant(100)}));
  EXPECT_EQ(wave.get(3, 1), 101u);
  EXPECT_EQ(wave.get(3, 63), 102u);
}

TEST(AluInteger, PackedHalves) {
  expect_lanes(v_pk_add_u16, {{{0x0001ffff, 0x00020001}, 0x00030000}});
  expect_lanes(v_pk_add_u16, {{{0x0001ffff, 0x00020001}, 0x0003ffff}}, {.clamp = true});
  expect_lanes(v_pk_sub_i16, {{{0x80000005, 0x00010007}, 0x8000fffe}}, {.clamp = true});
  expect_lanes(v_pk_mad_u16, {{{0x00020003, 0x00040005, 0x00010001}, 0x00090010}});
  expect_lanes(v_pk_mul_lo_u16, {{{0x01000003, 0x01000005}, 0x0000000f}});
  expect_lanes(v_pk_lshlrev_b16, {{{0x00040001, 0x00010001}, 0x00100002}});
  expect_lanes(v_pk_ashrrev_i16, {{{0x00040001, 0x80000001}, 0xf8000000}});
  expect_lanes(v_pk_max_i16, {{{0xffff0001, 0x00010000}, 0x00010001}});
  expect_lanes(v_cvt_pk_i16_i32, {{{100000, 0xfffe0000}, 0x80007fff}});
  expect_lanes(v_cvt_pk_u16_u32, {{{100000, 5}, 0x0005ffff}});
}

}  // namespace
}  // namespace rung::amdgpu
