// Joins the rows of all families by opcode, and chooses the code for lanes that this processor runs.
// SPDX-License-Identifier: Apache-2.0
#include "amdgpu/run/alu/lane_row.hpp"

#include <emmintrin.h>

#include <initializer_list>
#include <string_view>
#include <vector>

namespace rung::amdgpu {

namespace baseline {
std::span<const LaneRow> integer_rows();
std::span<const LaneRow> float_rows();
std::span<const LaneRow> compare_rows();
}  // namespace baseline
namespace avx2 {
std::span<const LaneRow> integer_rows();
std::span<const LaneRow> float_rows();
std::span<const LaneRow> compare_rows();
}  // namespace avx2
namespace float8 {
std::span<const LaneRow> float8_rows();
}

namespace {

constexpr std::string_view kNames[] = {
#define RUNG_AMD_OPCODE(name) #name,
#include "amdgpu/isa/opcode_names.inc"
#undef RUNG_AMD_OPCODE
};
constexpr size_t kOpcodes = std::size(kNames);

using enum Opcode;
// Facts that the expressions do not state.
constexpr Opcode kAccumulate[] = {v_fmac_f32,     v_fmac_f64,       v_mac_f32,           v_mac_f16,
                                  v_pk_fmac_f16,  v_dot2c_f32_bf16, v_dot2c_f32_f16,     v_dot2c_i32_i16,
                                  v_dot4c_i32_i8, v_dot8c_i32_i4,   v_cvt_pkaccum_u8_f32};
constexpr Opcode kReadVcc[] = {v_div_fmas_f32, v_div_fmas_f64};
constexpr Opcode kCopy[] = {v_mov_b32,         v_mov_b64,     v_accvgpr_read_b32, v_accvgpr_write_b32,
                            v_accvgpr_mov_b32, v_cndmask_b32, v_pk_mov_b32};
constexpr Opcode kLowOfLow[] = {v_lshlrev_b64, v_lshl_add_u64, v_mad_u64_u32, v_mad_i64_i32};
// The 16-bit instructions that came with op_sel; older ones write 0 above their result.
constexpr Opcode kKeepHalf[] = {
    v_fma_f16,        v_mad_f16,        v_mad_u16,         v_mad_i16,        v_div_fixup_f16,
    v_add_i16,        v_sub_i16,        v_min3_f16,        v_max3_f16,       v_med3_f16,
    v_min3_u16,       v_max3_u16,       v_med3_u16,        v_min3_i16,       v_max3_i16,
    v_med3_i16,       v_fma_mixlo_f16,  v_fma_mixhi_f16,   v_bitop3_b16,     v_cvt_pk_fp8_f32,
    v_cvt_pk_bf8_f32, v_cvt_sr_f16_f32, v_cvt_sr_bf16_f32, v_ashr_pk_i8_i32, v_ashr_pk_u8_i32};
constexpr Opcode kWriteHigh[] = {v_fma_mixhi_f16};
constexpr Opcode kToNearest[] = {v_dot2_f32_f16, v_dot2c_f32_f16, v_dot2_f32_bf16, v_dot2c_f32_bf16};

std::vector<LaneRow> table_of(std::initializer_list<std::span<const LaneRow>> families) {
  std::vector<LaneRow> table(kOpcodes);
  const auto at = [&](Opcode opcode) -> LaneRow& { return table[static_cast<size_t>(opcode)]; };
  for (const std::span<const LaneRow> family : families)
    for (const LaneRow& row : family) at(row.opcode) = row;
  for (const Opcode opcode : kAccumulate) at(opcode).accumulates = true;
  for (const Opcode opcode : kReadVcc) at(opcode).reads_vcc = true;
  for (const Opcode opcode : kCopy) at(opcode).copies = true;
  for (const Opcode opcode : kKeepHalf) at(opcode).keeps_half = true;
  for (const Opcode opcode : kLowOfLow) at(opcode).low_of_low = true;
  for (const Opcode opcode : kWriteHigh) at(opcode).writes_high = true;
  for (const Opcode opcode : kToNearest) at(opcode).to_nearest = true;
  for (size_t k = 0; k < kOpcodes; ++k) table[k].writes_exec = kNames[k].starts_with("v_cmpx_");
  return table;
}

const std::vector<LaneRow>& table_for(LaneCode code) {
  static const std::vector<LaneRow> kBaseline =
      table_of({baseline::integer_rows(), baseline::float_rows(), baseline::compare_rows(), float8::float8_rows()});
  static const std::vector<LaneRow> kAvx2 =
      table_of({avx2::integer_rows(), avx2::float_rows(), avx2::compare_rows(), float8::float8_rows()});
  return code == LaneCode::avx2 ? kAvx2 : kBaseline;
}

}  // namespace

bool is_supported(LaneCode code) {
  return code == LaneCode::baseline || (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"));
}
std::span<const LaneRow> lane_rows_of(LaneCode code) { return table_for(code); }

const LaneRow* const kLaneRows =
    lane_rows_of(is_supported(LaneCode::avx2) ? LaneCode::avx2 : LaneCode::baseline).data();

uint64_t bits_of(const uint32_t* mask) {
  uint64_t bits = 0;
  for (int l = 0; l < 64; l += 16) {
    const auto* four = reinterpret_cast<const __m128i*>(mask + l);
    const __m128i low = _mm_packs_epi32(_mm_loadu_si128(four), _mm_loadu_si128(four + 1));
    const __m128i high = _mm_packs_epi32(_mm_loadu_si128(four + 2), _mm_loadu_si128(four + 3));
    bits |= static_cast<uint64_t>(static_cast<uint32_t>(_mm_movemask_epi8(_mm_packs_epi16(low, high)))) << l;
  }
  return bits;
}

void lanes_of(uint64_t bits, uint32_t* mask) {
  for (int half = 0; half < 2; ++half) {
    const auto word = static_cast<uint32_t>(bits >> (32 * half));
    for (int l = 0; l < 32; ++l) mask[32 * half + l] = word & (uint32_t{1} << l) ? ~uint32_t{0} : 0;
  }
}

}  // namespace rung::amdgpu
