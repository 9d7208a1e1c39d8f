// Each form of a memory instruction at places that are not aligned, at the end of scratch, and straight to LDS.
// SPDX-License-Identifier: Apache-2.0
#include <functional>

#include "amdgpu/run/access/lane_access.hpp"
#include "team.hpp"

namespace rung::amdgpu {
namespace {

using namespace testing;
using Told = std::optional<DefectKind>;

constexpr uint32_t kPlace = 256, kScratch = 4096;  // bytes of a lane
constexpr uint64_t kOneLane = 1;

size_t for_forms(const std::function<bool(const Form&)>& which, const std::function<void(const Form&)>& each) {
  size_t found = 0;
  for (const Form& form : memory_forms())
    if (which(form)) ++found, each(form);
  return found;
}

uint32_t wanted_alignment(const Form& form) {
  if (form.atomic) return form.bytes;
  if (form.is_scalar() || form.direct) return 4;
  return form.space == Space::memory ? 1 : std::min(form.bytes, 4u);
}

// Loads and stores of memory may be anywhere; atomics, LDS, scratch and scalar loads may not.
TEST(PlaceForms, AreAlignedAsTheyMustBe) {
  const size_t count =
      for_forms([](const Form& form) { return form.space != Space::none; },
                [](const Form& form) {
                  Team team(1 << 16, kOneLane);
                  team.fill_lds(0);
                  for (uint32_t shift = 0; shift < 16; ++shift) {
                    team.point(0, 0, form, kPlace + shift);
                    const Told told = team.run(0, 0, instruction_of(form));
                    team.wait(0, 0);
                    EXPECT_EQ(told, shift % wanted_alignment(form) == 0 ? Told{} : DefectKind::misaligned)
                        << form.name << ", " << shift;
                  }
                });
  EXPECT_GE(count, 400u);
}

bool in_scratch(const Form& form) { return form.space == Space::scratch; }

TEST(PlaceForms, ALaneReachesItsOwnScratchAlone) {
  const size_t count = for_forms(in_scratch, [](const Form& form) {
    const uint32_t unit = std::min(form.bytes, 4u);
    for (const uint32_t place :
         {0u, kScratch - form.bytes, kScratch - form.bytes + unit, kScratch, kScratch + unit, ~uint32_t{0} - 15}) {
      Team team(1 << 12, kOneLane);
      team.point(0, 0, form, place);
      const bool fits = place <= kScratch - form.bytes;
      EXPECT_EQ(team.run(0, 0, instruction_of(form)), fits ? Told{} : DefectKind::out_of_bounds)
          << form.name << ", " << place;
    }
    // The last lane that is on is the first that is outside.
    Team team(1 << 12, 0x8000000000000001);
    team.point(0, 0, form, kScratch - 16 * 62);
    EXPECT_EQ(team.run(0, 0, instruction_of(form)), DefectKind::out_of_bounds) << form.name;
  });
  EXPECT_EQ(count, 22u);
}

// A byte that nobody wrote makes its register of its lane unwritten, and no other.
TEST(PlaceForms, LoadsFromScratchBringWhatIsUnwritten) {
  const auto loads = [](const Form& form) { return in_scratch(form) && form.loads; };
  const size_t count = for_forms(loads, [](const Form& form) {
    for (uint32_t byte = 0; byte <= form.bytes; ++byte) {
      const int lane = static_cast<int>(byte % 8 * 9);
      Team team(1 << 12);
      team.point(0, 0, form, kPlace);
      WaveMemory& memory = team.group(0).of(team.wave(0, 0));
      memory.scratch_written[scratch_place(kPlace + 16 * static_cast<uint32_t>(lane) + byte, lane)] = false;
      EXPECT_EQ(team.run(0, 0, instruction_of(form)), Told{}) << form.name;
      for (unsigned r = 0; r < form.results; ++r) {
        const bool missing = byte < form.bytes && byte / 4 == r;
        EXPECT_EQ(team.wave(0, 0).written[kResult + r], missing ? ~(uint64_t{1} << lane) : ~uint64_t{0})
            << form.name << ", byte " << byte << ", register " << r;
      }
    }
  });
  EXPECT_EQ(count, 14u);
}

TEST(PlaceForms, StoresToScratchKeepWhatIsUnwritten) {
  const auto stores = [](const Form& form) { return in_scratch(form) && form.stores; };
  const size_t count = for_forms(stores, [](const Form& form) {
    const Instruction store = instruction_of(form);
    for (unsigned r = 0; r < store.sources[1].registers; ++r)
      for (const int lane : {0, 37, 63}) {
        Team team(1 << 12);
        team.point(0, 0, form, kPlace);
        Wave& wave = team.wave(0, 0);
        wave.written[kData + r] &= ~(uint64_t{1} << lane);
        auto& written = team.group(0).of(wave).scratch_written;
        for (const bool before : {true, false}) {
          written.assign(written.size(), before);
          EXPECT_EQ(team.run(0, 0, store), Told{}) << form.name;
          for (int other = 0; other < kWaveLanes; ++other)
            for (uint32_t byte = 0; byte < 16; ++byte) {
              const bool stored = byte < form.bytes, missing = other == lane && byte / 4 == r;
              ASSERT_EQ(written[scratch_place(kPlace + 16 * static_cast<uint32_t>(other) + byte, other)],
                        stored ? !missing : before)
                  << form.name << ", lane " << other << ", byte " << byte;
            }
        }
      }
  });
  EXPECT_EQ(count, 8u);
}

// A lane's value goes to its own place, extended to a dword by its sign or by zeros; lanes that are off bring nothing.
TEST(PlaceForms, LoadsStraightToLdsBringTheirValues) {
  const size_t count =
      for_forms([](const Form& form) { return form.direct; },
                [](const Form& form) {
                  for (const uint64_t lanes : {~uint64_t{0}, uint64_t{0x8000000f00000003}}) {
                    Team team(1 << 14, lanes);
                    auto* memory = reinterpret_cast<uint8_t*>(team.data());
                    for (uint32_t n = 0; n < Team::kBytes; ++n) memory[n] = static_cast<uint8_t>(n * 37 + n / 256 + 11);
                    std::memset(team.group(0).lds.data(), 0x5a, 1 << 14);
                    team.point(0, 0, form, kPlace);
                    EXPECT_EQ(team.run(0, 0, instruction_of(form)), Told{}) << form.name;
                    const bool is_signed =
                        form.name.find("_sbyte") != form.name.npos || form.name.find("_sshort") != form.name.npos;
                    const uint32_t apart = std::max(form.bytes, 4u);
                    for (uint32_t lane = 0; lane < 64; ++lane)
                      for (uint32_t byte = 0; byte < apart; ++byte) {
                        const uint8_t* from = memory + kPlace + 16 * lane;
                        const bool negative = is_signed && from[form.bytes - 1] >= 0x80;
                        const int value = byte < form.bytes ? from[byte] : negative ? 0xff : 0;
                        const int expected = lanes >> lane & 1 ? value : 0x5a;
                        ASSERT_EQ(static_cast<int>(team.group(0).lds.data()[kPlace + apart * lane + byte]), expected)
                            << form.name << ", lane " << lane << ", byte " << byte;
                      }
                  }
                });
  EXPECT_GE(count, 12u);
}

// Sixteen lanes have a row of 16 elements each; each gets a column of all rows.
template <unsigned kBits>
void expect_transposed(Opcode opcode) {
  constexpr uint32_t kBytes = kBits == 6 ? 12 : 8;
  OneWave wave(Isa::gfx950);
  const auto element = [](uint32_t row, uint32_t column) { return (row * 29 + column * 7 + row / 16) % (1u << kBits); };
  for (uint32_t lane = 0; lane < 64; ++lane) {
    std::array<uint32_t, 3> words{};
    for (uint32_t column = 0; column < 16; ++column)
      for (uint32_t bit = 0; bit < kBits; ++bit)
        words[(column * kBits + bit) / 32] |= (element(lane, column) >> bit & 1) << (column * kBits + bit) % 32;
    const uint32_t place = 16 * ((lane * 11) % 64);
    for (uint32_t k = 0; k < kBytes / 4; ++k) wave.set_local<uint32_t>(place + 4 * k, words[k]);
    wave.v(0, static_cast<int>(lane)) = place;
  }
  wave.run(make_instruction(opcode, Encoding::ds, vector_operand(2, kBytes / 4), {vector_operand(0)}));
  for (uint32_t lane = 0; lane < 64; ++lane)
    for (uint32_t row = 0; row < 16; ++row) {
      uint32_t got = 0;
      for (uint32_t bit = 0; bit < kBits; ++bit)
        got |= (wave.v(2 + (row * kBits + bit) / 32, static_cast<int>(lane)) >> (row * kBits + bit) % 32 & 1) << bit;
      ASSERT_EQ(got, element(lane / 16 * 16 + row, lane % 16)) << kBits << " bits, lane " << lane << ", row " << row;
    }
}
TEST(PlaceForms, TransposedReadsOfNarrowElements) {
  expect_transposed<4>(Opcode::ds_read_b64_tr_b4);
  expect_transposed<6>(Opcode::ds_read_b96_tr_b6);
}

TEST(PlaceForms, ClocksGoOnAndAreWaitedFor) {
  OneWave wave;
  uint64_t before = 0;
  for (const Opcode opcode : {Opcode::s_memtime, Opcode::s_memrealtime, Opcode::s_memtime}) {
    const Instruction clock = make_instruction(opcode, Encoding::smem, scalar_operand(12, 2), {});
    wave.run(clock);
    EXPECT_EQ(wave.wave().scalar_pending[12], 1);
    EXPECT_EQ(wave.wave().scalar_pending[13], 1);
    EXPECT_EQ(wave.find(clock).kind, DefectKind::missing_wait);
    wave.wait();
    const uint64_t now = wave.s(12) | uint64_t{wave.s(13)} << 32;
    EXPECT_GT(now, before);
    before = now;
  }
  wave.group().instructions = 0xffffffff;
  wave.run(make_instruction(Opcode::s_memtime, Encoding::smem, scalar_operand(12, 2), {}));
  EXPECT_EQ(wave.s(12), 0u);
  EXPECT_EQ(wave.s(13), 1u);
}

}  // namespace
}  // namespace rung::amdgpu
