// Instructions that read and write memory, one by one: what goes where, which lanes, and what is refused.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <numeric>

#include "support/one_wave.hpp"

namespace rung::amdgpu {
namespace {

using testing::accumulator;
using testing::constant_operand;
using testing::make_instruction;
using testing::OneWave;
using testing::scalar_operand;
using testing::vector_operand;

Instruction ds(Opcode opcode, const InstructionOperand& destination, std::initializer_list<InstructionOperand> sources,
               int offset = 0) {
  Instruction made = make_instruction(opcode, Encoding::ds, destination, sources);
  made.memory.offset = offset;
  return made;
}

std::vector<uint32_t> counting(size_t count) {
  std::vector<uint32_t> made(count);
  std::iota(made.begin(), made.end(), 100u);
  return made;
}

// ---- global, flat, scratch

TEST(GlobalMemory, LoadsByScalarBaseAndOffsetPerLane) {
  OneWave wave;
  const auto* data = wave.make(counting(256));
  wave.set_scalar_pair(4, reinterpret_cast<uint64_t>(data) + 16);
  for (int lane = 0; lane < 64; ++lane) wave.v(1, lane) = static_cast<uint32_t>(8 * lane);
  Instruction load = make_instruction(Opcode::global_load_dwordx2, Encoding::global, accumulator(2, 2),
                                      {vector_operand(1), scalar_operand(4, 2)});
  load.memory.offset = -8;
  wave.run(load);
  for (int lane = 0; lane < 64; ++lane) {
    EXPECT_EQ(wave.v(Wave::kFirstAgpr + 2, lane), 102u + 2 * static_cast<uint32_t>(lane));
    EXPECT_EQ(wave.v(Wave::kFirstAgpr + 3, lane), 103u + 2 * static_cast<uint32_t>(lane));
  }
}

TEST(GlobalMemory, InactiveLanesAccessNothing) {
  OneWave wave;
  auto* data = wave.make(counting(64));
  wave.wave().set_exec(0x8000000000000001);
  for (int lane = 0; lane < 64; ++lane) {
    wave.set_pair(0, lane, lane == 0 || lane == 63 ? reinterpret_cast<uint64_t>(data + lane) : 1);
    wave.v(2, lane) = 7, wave.v(3, lane) = 9;
  }
  const InstructionOperand none;
  wave.run(
      make_instruction(Opcode::global_load_dword, Encoding::global, vector_operand(2), {vector_operand(0, 2), none}));
  EXPECT_EQ(wave.v(2, 0), 100u);
  EXPECT_EQ(wave.v(2, 63), 163u);
  EXPECT_EQ(wave.v(2, 5), 7u);
  wave.run(make_instruction(Opcode::global_store_dword, Encoding::global, {},
                            {vector_operand(0, 2), vector_operand(3), none}));
  EXPECT_EQ(data[0], 9u);
  EXPECT_EQ(data[1], 101u);
  EXPECT_EQ(data[63], 9u);
}

TEST(GlobalMemory, NarrowLoadsExtendOrKeepTheOtherHalf) {
  OneWave wave;
  const auto* data = wave.make(std::vector<uint32_t>{0x8081ff82});
  const InstructionOperand none;
  const struct {
    Opcode opcode;
    uint32_t expected;
  } cases[] = {{Opcode::global_load_ubyte, 0x82},           {Opcode::global_load_sbyte, 0xffffff82},
               {Opcode::global_load_ushort, 0xff82},        {Opcode::global_load_sshort, 0xffffff82},
               {Opcode::global_load_short_d16, 0x1234ff82}, {Opcode::global_load_short_d16_hi, 0xff825678},
               {Opcode::global_load_ubyte_d16, 0x12340082}, {Opcode::global_load_sbyte_d16_hi, 0xff825678}};
  for (const auto& c : cases) {
    for (int lane = 0; lane < 64; ++lane) {
      wave.set_pair(0, lane, reinterpret_cast<uint64_t>(data));
      wave.v(2, lane) = 0x12345678;
    }
    wave.run(make_instruction(c.opcode, Encoding::global, vector_operand(2), {vector_operand(0, 2), none}));
    wave.wait();
    EXPECT_EQ(wave.v(2, 17), c.expected) << static_cast<int>(c.opcode);
  }
}

TEST(GlobalMemory, StoresOfAHighHalf) {
  OneWave wave;
  auto* data = wave.make(std::vector<uint16_t>(64, 0));
  const InstructionOperand none;
  for (int lane = 0; lane < 64; ++lane) {
    wave.set_pair(0, lane, reinterpret_cast<uint64_t>(data + lane));
    wave.v(2, lane) = static_cast<uint32_t>(lane) << 16 | 0xdead;
  }
  wave.run(make_instruction(Opcode::global_store_short_d16_hi, Encoding::global, {},
                            {vector_operand(0, 2), vector_operand(2), none}));
  EXPECT_EQ(data[41], 41);
}

// Generic addresses: half of the lanes in memory, a quarter in LDS, a quarter in scratch.
TEST(FlatMemory, ChoosesMemoryLdsOrScratchByTheAddress) {
  OneWave wave;
  auto* data = wave.make(std::vector<uint32_t>(64, 0));
  wave.wave().scratch.assign(64 * 16, std::byte{0});
  wave.group().of(wave.wave()).scratch_written.assign(64 * 16, false);
  for (int lane = 0; lane < 64; ++lane) {
    const auto n = static_cast<uint64_t>(lane);
    wave.set_pair(0, lane,
                  lane < 32   ? reinterpret_cast<uint64_t>(data + lane)
                  : lane < 48 ? kSharedAperture + 4 * n
                              : kPrivateAperture + 8);
    wave.v(2, lane) = 1000 + static_cast<uint32_t>(lane);
  }
  const InstructionOperand none;
  wave.run(
      make_instruction(Opcode::flat_store_dword, Encoding::flat, {}, {vector_operand(0, 2), vector_operand(2), none}));
  EXPECT_EQ(data[31], 1031u);
  EXPECT_EQ(wave.local<uint32_t>(4 * 40), 1040u);
  uint32_t kept = 0;
  std::memcpy(&kept, &wave.wave().scratch[(2 * 64 + 50) * 4], 4);
  EXPECT_EQ(kept, 1050u);
  wave.run(make_instruction(Opcode::flat_load_dword, Encoding::flat, vector_operand(5), {vector_operand(0, 2), none}));
  // vmcnt alone does not promise what may come from LDS.
  Instruction wait{.opcode = Opcode::s_waitcnt, .encoding = Encoding::sopp, .immediate = 0x0f70};
  wave.run(wait);
  EXPECT_NE(wave.wave().pending[5], 0);
  wave.wait();
  EXPECT_EQ(wave.wave().pending[5], 0);
  for (int lane = 0; lane < 64; ++lane) EXPECT_EQ(wave.v(5, lane), 1000u + static_cast<uint32_t>(lane));
}

// What nobody wrote before a spill is unwritten after it.
TEST(ScratchMemory, KeepsWhatIsUnwritten) {
  OneWave wave;
  wave.wave().scratch.assign(64 * 8, std::byte{0});
  wave.group().of(wave.wave()).scratch_written.assign(64 * 8, false);
  wave.wave().written[2] = ~uint64_t{1};
  const InstructionOperand none;
  Instruction store =
      make_instruction(Opcode::scratch_store_dword, Encoding::scratch, {}, {none, vector_operand(2), none});
  store.memory.offset = 4;
  wave.run(store);
  Instruction load = make_instruction(Opcode::scratch_load_dword, Encoding::scratch, vector_operand(3), {none, none});
  load.memory.offset = 4;
  wave.run(load);
  EXPECT_EQ(wave.wave().written[3], ~uint64_t{1});
  load.memory.offset = 8;
  EXPECT_EQ(wave.find(load).kind, DefectKind::out_of_bounds);
}

// ---- scalar loads

TEST(ScalarMemory, LoadsAreThereAfterAWaitForZero) {
  OneWave wave;
  const auto* data = wave.make(counting(16));
  wave.set_scalar_pair(2, reinterpret_cast<uint64_t>(data));
  wave.s(9) = 8;
  Instruction load = make_instruction(Opcode::s_load_dwordx4, Encoding::smem, scalar_operand(12, 4),
                                      {scalar_operand(2, 2), scalar_operand(9)});
  load.memory.offset = 4;
  wave.run(load);
  EXPECT_EQ(wave.s(12), 103u);
  EXPECT_EQ(wave.s(15), 106u);
  EXPECT_EQ(wave.find(load).kind, DefectKind::missing_wait);  // two loads of one register overtake each other
  wave.wait();
  wave.run(load);
}

TEST(ScalarMemory, BehindTheEndOfABufferIsZero) {
  OneWave wave;
  const auto* data = wave.make(counting(8));
  wave.set_scalar_pair(4, reinterpret_cast<uint64_t>(data));
  wave.s(6) = 12, wave.s(7) = 0;
  Instruction load = make_instruction(Opcode::s_buffer_load_dwordx4, Encoding::smem, scalar_operand(12, 4),
                                      {scalar_operand(4, 4), InstructionOperand{}});
  wave.run(load);
  EXPECT_EQ(wave.s(12), 100u);
  EXPECT_EQ(wave.s(14), 102u);
  EXPECT_EQ(wave.s(15), 0u);
  wave.wait();
  wave.s(6) = 6;  // a dword that is in the buffer in part is not there
  wave.run(load);
  EXPECT_EQ(wave.s(12), 100u);
  EXPECT_EQ(wave.s(13), 0u);
}

// ---- LDS

TEST(LocalMemory, TwoPlacesOfALane) {
  OneWave wave;
  for (int lane = 0; lane < 64; ++lane) {
    wave.v(0, lane) = static_cast<uint32_t>(8 * lane);
    for (unsigned r = 2; r < 6; ++r) wave.v(r, lane) = 1000 * r + static_cast<uint32_t>(lane);
  }
  wave.run(ds(Opcode::ds_write2st64_b32, {}, {vector_operand(0), vector_operand(2), vector_operand(3)}, 0x0301));
  EXPECT_EQ(wave.local<uint32_t>(8 * 5 + 256), 2005u);
  EXPECT_EQ(wave.local<uint32_t>(8 * 5 + 768), 3005u);
  wave.run(ds(Opcode::ds_write2_b64, {}, {vector_operand(0), vector_operand(2, 2), vector_operand(4, 2)}, 0x8100));
  EXPECT_EQ(wave.local<uint32_t>(8 * 63 + 4), 3063u);
  EXPECT_EQ(wave.local<uint32_t>(8 * 63 + 0x81 * 8), 4063u);
  wave.run(ds(Opcode::ds_read2_b64, vector_operand(8, 4), {vector_operand(0)}, 0x8100));
  EXPECT_EQ(wave.v(8, 9), 2009u);
  EXPECT_EQ(wave.v(11, 9), 5009u);
}

// The same lanes write 16 bytes each, and neighbours read halves of them.
TEST(LocalMemory, WidthsAndHalves) {
  OneWave wave;
  for (int lane = 0; lane < 64; ++lane) {
    wave.v(0, lane) = static_cast<uint32_t>(16 * lane);
    for (unsigned r = 2; r < 6; ++r) wave.v(r, lane) = 0x90000000 + 0x10000 * r + static_cast<uint32_t>(lane);
  }
  wave.run(ds(Opcode::ds_write_b128, {}, {vector_operand(0), vector_operand(2, 4)}));
  wave.run(ds(Opcode::ds_read_i16, vector_operand(7), {vector_operand(0)}, 14));
  EXPECT_EQ(wave.v(7, 3), 0xffff9005u);
  wave.wait();
  wave.v(7, 3) = 0x11112222;
  wave.run(ds(Opcode::ds_read_u16_d16_hi, vector_operand(7), {vector_operand(0)}, 14));
  EXPECT_EQ(wave.v(7, 3), 0x90052222u);
  wave.run(ds(Opcode::ds_write_b8_d16_hi, {}, {vector_operand(0), vector_operand(2)}, 1));
  EXPECT_EQ(wave.local<uint32_t>(16 * 3), 0x90020203u);
}

TEST(LocalMemory, ValuesBetweenLanes) {
  OneWave wave;
  for (int lane = 0; lane < 64; ++lane) {
    wave.v(0, lane) = static_cast<uint32_t>(4 * ((lane + 3) % 64));
    wave.v(1, lane) = 500 + static_cast<uint32_t>(lane);
  }
  wave.wave().set_exec(~uint64_t{0} << 1);  // lane 0 is off: who reads it gets 0
  wave.run(ds(Opcode::ds_bpermute_b32, vector_operand(2), {vector_operand(0), vector_operand(1)}));
  EXPECT_EQ(wave.v(2, 10), 513u);
  EXPECT_EQ(wave.v(2, 61), 0u);
  wave.run(ds(Opcode::ds_permute_b32, vector_operand(3), {vector_operand(0), vector_operand(1)}));
  EXPECT_EQ(wave.v(3, 10), 507u);
  EXPECT_EQ(wave.v(3, 3), 0u);
  wave.wave().set_exec(~uint64_t{0});
  const struct {
    int pattern, lane;
    uint32_t from;
  } swizzles[] = {{0x041f, 40, 41},  // flips bit 0
                  {0x401f, 7, 23},   // flips bit 4, within 32
                  {0x801b, 6, 5},    // quads backwards
                  {0x00e0, 37, 39},  // keeps none, sets 7
                  {0xc040, 31, 1},   // turns 32 lanes by two
                  {0xc440, 1, 31}};
  for (const auto& c : swizzles) {
    wave.run(ds(Opcode::ds_swizzle_b32, vector_operand(4), {vector_operand(1)}, c.pattern));
    EXPECT_EQ(wave.v(4, c.lane), 500 + c.from) << std::hex << c.pattern;
  }
}

// Sixteen lanes read four rows of 16 halves; each gets a column.
TEST(LocalMemory, TransposedReads) {
  OneWave wave(Isa::gfx950);
  for (uint32_t n = 0; n < 256; ++n) wave.set_local<uint16_t>(2 * n, static_cast<uint16_t>(n));
  for (int lane = 0; lane < 64; ++lane) wave.v(0, lane) = static_cast<uint32_t>(8 * lane);
  wave.run(ds(Opcode::ds_read_b64_tr_b16, vector_operand(2, 2), {vector_operand(0)}));
  for (int lane = 0; lane < 64; ++lane)
    for (unsigned row = 0; row < 4; ++row) {
      const uint32_t got = wave.v(2 + row / 2, lane) >> 16 * (row % 2) & 0xffff;
      ASSERT_EQ(got, static_cast<uint32_t>(lane / 16 * 64 + lane % 16) + 16 * row);
    }
  wave.run(ds(Opcode::ds_read_b64_tr_b8, vector_operand(4, 2), {vector_operand(0)}));
  const auto* bytes = reinterpret_cast<const uint8_t*>(wave.group().lds.data());
  for (int lane = 0; lane < 64; ++lane)
    for (unsigned row = 0; row < 8; ++row)
      ASSERT_EQ(wave.v(4 + row / 4, lane) >> 8 * (row % 4) & 0xff,
                bytes[static_cast<unsigned>(lane / 16) * 128 + 16 * row + static_cast<unsigned>(lane % 16)]);
}

TEST(LocalMemory, AtomicsOfAllLanesOnOneWord) {
  OneWave wave;
  wave.set_local<uint32_t>(64, 10);
  wave.set_local<float>(68, 0.5f);
  wave.set_local<uint64_t>(72, 5);
  for (int lane = 0; lane < 64; ++lane) {
    wave.v(0, lane) = 64;
    wave.v(1, lane) = static_cast<uint32_t>(lane), wave.v(6, lane) = 0;
    wave.v(2, lane) = std::bit_cast<uint32_t>(0.25f);
  }
  wave.run(ds(Opcode::ds_add_rtn_u32, vector_operand(3), {vector_operand(0), vector_operand(1)}));
  EXPECT_EQ(wave.local<uint32_t>(64), 10u + 63 * 32);
  EXPECT_EQ(wave.v(3, 3), 10u + 0 + 1 + 2);
  wave.run(ds(Opcode::ds_add_f32, {}, {vector_operand(0), vector_operand(2)}, 4));
  EXPECT_EQ(wave.local<float>(68), 16.5f);
  wave.run(ds(Opcode::ds_max_i32, {}, {vector_operand(0), vector_operand(1)}));
  EXPECT_EQ(wave.local<uint32_t>(64), 10u + 63 * 32);
  // ds_cmpst: what the old value must be, then the new one.
  for (int lane = 0; lane < 64; ++lane) wave.v(4, lane) = lane == 9 ? 10 + 63 * 32 : 1, wave.v(5, lane) = 77;
  wave.run(ds(Opcode::ds_cmpst_rtn_b32, vector_operand(3), {vector_operand(0), vector_operand(4), vector_operand(5)}));
  EXPECT_EQ(wave.local<uint32_t>(64), 77u);
  EXPECT_EQ(wave.v(3, 10), 77u);
  // Up to 4, then 0 again; 64 lanes count from 77, which is above.
  for (int lane = 0; lane < 64; ++lane) wave.v(1, lane) = 4;
  wave.run(ds(Opcode::ds_inc_u32, {}, {vector_operand(0), vector_operand(1)}));
  EXPECT_EQ(wave.local<uint32_t>(64), 3u);  // the first makes 0, 63 more: 63 % 5
  wave.s(kM0) = 64;
  wave.wave().set_exec(0xff);
  wave.run(ds(Opcode::ds_append, vector_operand(3), {}));
  EXPECT_EQ(wave.v(3, 7), 3u);
  EXPECT_EQ(wave.local<uint32_t>(64), 11u);
}

TEST(LocalMemory, AddressesBehindTheEndAreRefused) {
  OneWave wave(Isa::gfx942, 1024);
  for (int lane = 0; lane < 64; ++lane) wave.v(0, lane) = static_cast<uint32_t>(16 * lane);
  for (unsigned r = 2; r < 6; ++r)
    for (int lane = 0; lane < 64; ++lane) wave.v(r, lane) = 0;
  wave.run(ds(Opcode::ds_write_b128, {}, {vector_operand(0), vector_operand(2, 4)}));
  const Defect found = wave.find(ds(Opcode::ds_write_b128, {}, {vector_operand(0), vector_operand(2, 4)}, 4));
  EXPECT_EQ(found.kind, DefectKind::out_of_bounds);
  EXPECT_EQ(found.lane, 63);
}

TEST(LocalMemory, CountsBankConflicts) {
  const struct {
    unsigned stride;
    uint64_t cycles;
  } cases[] = {{4, 0}, {8, 2}, {128, 62}, {132, 0}, {0, 0}};
  for (const auto& c : cases) {
    OneWave wave(Isa::gfx942, 16384);
    for (int lane = 0; lane < 64; ++lane) wave.v(0, lane) = c.stride * static_cast<unsigned>(lane), wave.v(1, lane) = 0;
    wave.run(ds(Opcode::ds_write_b32, {}, {vector_operand(0), vector_operand(1)}));
    EXPECT_EQ(wave.group().counts.bank_conflict_cycles, c.cycles) << c.stride;
    EXPECT_EQ(wave.group().counts.lds_bytes, 256u);
  }
}

// ---- memory straight to LDS

TEST(DirectLoads, GoToConsecutivePlacesAndWantAWait) {
  OneWave wave(Isa::gfx950);
  const auto* data = wave.make(counting(1024));
  for (int lane = 0; lane < 64; ++lane) {
    wave.set_pair(0, lane, reinterpret_cast<uint64_t>(data + 4 * (63 - lane)));
    wave.v(2, lane) = static_cast<uint32_t>(256 + 16 * lane);
  }
  wave.s(kM0) = 256;
  Instruction load = make_instruction(Opcode::global_load_lds_dwordx4, Encoding::global, {},
                                      {vector_operand(0, 2), InstructionOperand{}});
  load.memory.lds = true;
  wave.run(load);
  const Instruction read = ds(Opcode::ds_read_b128, vector_operand(4, 4), {vector_operand(2)});
  EXPECT_EQ(wave.find(read).kind, DefectKind::missing_wait);
  wave.wait();
  wave.run(read);
  EXPECT_EQ(wave.v(4, 0), 100u + 4 * 63);
  EXPECT_EQ(wave.v(7, 63), 103u);
}

// ---- buffers

class Buffers : public ::testing::Test {
 protected:
  void describe(const void* base, uint32_t stride, uint32_t records, uint32_t last = 0) {
    wave_.set_scalar_pair(8, reinterpret_cast<uint64_t>(base) | uint64_t{stride} << 48);
    wave_.s(10) = records, wave_.s(11) = last;
  }
  static Instruction buffer(Opcode opcode, const InstructionOperand& destination,
                            std::initializer_list<InstructionOperand> sources) {
    return make_instruction(opcode, Encoding::mubuf, destination, sources);
  }
  OneWave wave_;
};

TEST_F(Buffers, ReadZeroForEachDwordBeyondTheirEnd) {
  const auto* data = wave_.make(counting(256));
  describe(data, 0, 4 * 102);
  for (int lane = 0; lane < 64; ++lane) wave_.v(0, lane) = static_cast<uint32_t>(8 * lane);
  Instruction load = buffer(Opcode::buffer_load_dwordx4, vector_operand(4, 4),
                            {vector_operand(0), scalar_operand(8, 4), constant_operand(4)});
  load.memory.offen = true;
  load.memory.offset = 12;
  wave_.run(load);
  EXPECT_EQ(wave_.v(4, 10), 124u);  // 80 + 12 + 4 bytes
  EXPECT_EQ(wave_.v(5, 48), 201u);  // the last two dwords that are inside
  EXPECT_EQ(wave_.v(6, 48), 0u);
  EXPECT_EQ(wave_.v(4, 49), 0u);
}

TEST_F(Buffers, StoresOutsideAreDropped) {
  auto* data = wave_.make(counting(64));
  describe(data, 0, 40);
  for (int lane = 0; lane < 64; ++lane) wave_.v(0, lane) = static_cast<uint32_t>(4 * lane), wave_.v(1, lane) = 1;
  Instruction store = buffer(Opcode::buffer_store_dword, {},
                             {vector_operand(0), vector_operand(1), scalar_operand(8, 4), constant_operand(0)});
  store.memory.offen = true;
  wave_.run(store);
  EXPECT_EQ(data[9], 1u);
  EXPECT_EQ(data[10], 110u);
}

TEST_F(Buffers, ElementsHaveAStride) {
  const auto* data = wave_.make(counting(256));
  describe(data, 12, 20);
  for (int lane = 0; lane < 64; ++lane) wave_.v(0, lane) = static_cast<uint32_t>(lane), wave_.v(1, lane) = 4;
  Instruction load = buffer(Opcode::buffer_load_dword, vector_operand(4),
                            {vector_operand(0, 2), scalar_operand(8, 4), constant_operand(0)});
  load.memory.offen = load.memory.idxen = true;
  wave_.run(load);
  EXPECT_EQ(wave_.v(4, 19), 100u + 3 * 19 + 1);
  EXPECT_EQ(wave_.v(4, 20), 0u);
}

TEST_F(Buffers, AtomicsGiveTheOldValueBack) {
  auto* data = wave_.make(counting(64));
  describe(data, 0, 256);
  for (int lane = 0; lane < 64; ++lane) wave_.v(0, lane) = static_cast<uint32_t>(8 * lane), wave_.v(1, lane) = 5;
  Instruction add = buffer(Opcode::buffer_atomic_add, vector_operand(1),
                           {vector_operand(0), vector_operand(1), scalar_operand(8, 4), constant_operand(0)});
  add.memory.offen = add.memory.sc0 = true;
  wave_.run(add);
  EXPECT_EQ(wave_.v(1, 31), 162u);
  EXPECT_EQ(data[62], 167u);
  EXPECT_EQ(wave_.v(1, 32), 0u);  // outside
}

// ---- atomics on memory

TEST(GlobalAtomics, PackedAndFloatAdditionsAndAComparedSwap) {
  OneWave wave;
  auto* data = wave.make(std::vector<uint32_t>{0x3c003c00, std::bit_cast<uint32_t>(1.0f), 5, 0});
  const InstructionOperand none;
  wave.wave().set_exec(0x3);
  for (int lane = 0; lane < 2; ++lane)
    wave.set_pair(0, lane, reinterpret_cast<uint64_t>(data)), wave.v(2, lane) = 0x40003c00;
  Instruction add = make_instruction(Opcode::global_atomic_pk_add_f16, Encoding::global, {},
                                     {vector_operand(0, 2), vector_operand(2), none});
  wave.run(add);
  EXPECT_EQ(data[0], 0x45004200u);  // 1 + 2 + 2, 1 + 1 + 1
  for (int lane = 0; lane < 2; ++lane) wave.v(2, lane) = std::bit_cast<uint32_t>(0.5f);
  add.opcode = Opcode::global_atomic_add_f32, add.memory.offset = 4;
  wave.run(add);
  EXPECT_EQ(std::bit_cast<float>(data[1]), 2.0f);
  // The new value, then what the old one must be.
  for (int lane = 0; lane < 2; ++lane) wave.v(2, lane) = 9 + static_cast<unsigned>(lane), wave.v(3, lane) = 5;
  Instruction swap = make_instruction(Opcode::global_atomic_cmpswap, Encoding::global, vector_operand(6),
                                      {vector_operand(0, 2), vector_operand(2, 2), none});
  swap.memory.offset = 8, swap.memory.sc0 = true;
  wave.run(swap);
  EXPECT_EQ(data[2], 9u);
  EXPECT_EQ(wave.v(6, 0), 5u);
  EXPECT_EQ(wave.v(6, 1), 9u);
  add.opcode = Opcode::global_atomic_add, add.memory.offset = 2;
  EXPECT_EQ(wave.find(add).kind, DefectKind::misaligned);
}

// ---- s_waitcnt

TEST(Waits, LeaveTheLatestOfOrderedLoadsPending) {
  OneWave wave;
  const auto* data = wave.make(counting(64));
  const InstructionOperand none;
  for (int lane = 0; lane < 64; ++lane) wave.set_pair(0, lane, reinterpret_cast<uint64_t>(data));
  for (unsigned r = 4; r < 7; ++r)
    wave.run(
        make_instruction(Opcode::global_load_dword, Encoding::global, vector_operand(r), {vector_operand(0, 2), none}));
  const auto wait = [&](unsigned vector, unsigned local) {
    Instruction made{.opcode = Opcode::s_waitcnt, .encoding = Encoding::sopp};
    made.immediate = static_cast<int32_t>((vector & 15) | (vector >> 4) << 14 | local << 8 | 0x70);
    wave.run(made);
  };
  wait(63, 0);
  EXPECT_EQ(wave.wave().pending[4], 1);
  wait(2, 15);
  EXPECT_EQ(wave.wave().pending[4], 0);
  EXPECT_EQ(wave.wave().pending[5], 1);
  wait(0, 15);
  EXPECT_EQ(wave.wave().pending[6], 0);
}

// A scalar load among them may be the one that has ended.
TEST(Waits, PromiseNoLdsReadsDuringAScalarLoad) {
  OneWave wave;
  const auto* data = wave.make(counting(64));
  wave.set_scalar_pair(2, reinterpret_cast<uint64_t>(data));
  for (int lane = 0; lane < 64; ++lane) wave.v(0, lane) = 0;
  wave.set_local<uint32_t>(0, 1);
  wave.run(ds(Opcode::ds_read_b32, vector_operand(4), {vector_operand(0)}));
  wave.run(make_instruction(Opcode::s_load_dword, Encoding::smem, scalar_operand(12),
                            {scalar_operand(2, 2), InstructionOperand{}}));
  Instruction wait{.opcode = Opcode::s_waitcnt, .encoding = Encoding::sopp, .immediate = 0xc17f};
  wave.run(wait);  // lgkmcnt(1)
  EXPECT_EQ(wave.wave().pending[4], 1);
  EXPECT_EQ(wave.wave().scalar_pending[12], 1);
  wave.run(ds(Opcode::ds_read_b32, vector_operand(5), {vector_operand(0)}));
  wave.run(wait);
  EXPECT_EQ(wave.wave().pending[4], 0);
  wave.wait();
  EXPECT_EQ(wave.wave().scalar_pending[12], 0);
}

}  // namespace
}  // namespace rung::amdgpu
