// Launches made ready: hidden arguments, the packet, the registers that waves begin with, what is refused, and that a
// work-group finds nothing of the one before it. Kernels are words of machine code.
// SPDX-License-Identifier: Apache-2.0
#include "amdgpu/run/dispatch.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <memory>

#include "amdgpu/run/execute.hpp"
#include "amdgpu/run/image.hpp"
#include "amdgpu/run/program.hpp"
#include "support/made_code_object.hpp"

namespace rung::amdgpu {
namespace {

using ::rung::testing::MadeArgument;
using ::rung::testing::MadeCodeObject;
using ::rung::testing::MadeKernel;
using ::testing::HasSubstr;

// A kernel that is loaded and may be launched.
class Loaded {
 public:
  explicit Loaded(const MadeKernel& kernel, Isa isa = Isa::gfx942) : made_({kernel}, isa) {
    object_ = read_code_object(made_.bytes()).value();
    image_ = Image::load(object_, memory_).value();
    code_ = DecodedCode::make(object_, image_->base()).value();
    describe(kernel.properties, kernel.rsrc2);
  }
  // Gives the kernel other words of its descriptor.
  void describe(uint16_t properties, uint32_t rsrc2) {
    object_.kernels.at(0).properties = properties, object_.kernels.at(0).rsrc2 = rsrc2;
    program_ = std::make_unique<Program>(Program::make(code_, object_.kernels.at(0)).value());
  }
  const Program& program() const { return *program_; }
  Memory& memory() { return memory_; }
  Dispatch dispatch(const Extents& groups, const Extents& threads) const {
    return {.program = program_.get(), .groups = groups, .threads = threads};
  }
  Result<Execution> run(const Dispatch& dispatch, const Checks& checks = {}, int threads = 1) {
    return execute(dispatch, memory_, checks, threads);
  }

 private:
  MadeCodeObject made_;
  CodeObject object_;
  Memory memory_;
  std::unique_ptr<Image> image_;
  std::shared_ptr<const DecodedCode> code_;
  std::unique_ptr<Program> program_;
};

template <class T>
T value_at(const Launch& launch, size_t offset) {
  T value;
  std::memcpy(&value, launch.block.data() + offset, sizeof value);
  return value;
}

constexpr Extents kGroups{11, 13, 17}, kThreads{2, 3, 5};

// ---- arguments

TEST(Dispatches, HiddenArgumentsAreOfTheirDimension) {
  const struct {
    const char* kind;
    uint32_t size;
    uint64_t expected;
  } rows[] = {{"hidden_block_count_x", 4, 11},
              {"hidden_block_count_y", 4, 13},
              {"hidden_block_count_z", 4, 17},
              {"hidden_group_size_x", 2, 2},
              {"hidden_group_size_y", 2, 3},
              {"hidden_group_size_z", 2, 5},
              {"hidden_remainder_x", 2, 0},
              {"hidden_global_offset_x", 8, 0},
              {"hidden_grid_dims", 2, 3},
              {"hidden_dynamic_lds_size", 4, 4096},
              {"hidden_private_base", 4, kPrivateAperture >> 32},
              {"hidden_shared_base", 4, kSharedAperture >> 32},
              {"hidden_hostcall_buffer", 8, 0}};
  MadeKernel kernel{.name = "kernel"};
  kernel.arguments = {{"by_value", 0, 4}};
  uint32_t at = 8;
  for (const auto& row : rows) kernel.arguments.push_back({row.kind, at, row.size}), at += row.size + 2;
  kernel.argument_bytes = at;
  const Loaded loaded(kernel);
  Dispatch dispatch = loaded.dispatch(kGroups, kThreads);
  dispatch.dynamic_lds_bytes = 4096;
  const uint32_t explicit_one = 0xabcdef01;
  dispatch.arguments = std::as_bytes(std::span(&explicit_one, 1));
  const Launch launch = prepare(dispatch).value();
  EXPECT_EQ(value_at<uint32_t>(launch, Launch::kPacketBytes), explicit_one);
  at = 8;
  for (const auto& row : rows) {
    uint64_t value = 0;
    std::memcpy(&value, launch.block.data() + Launch::kPacketBytes + at, row.size);
    EXPECT_EQ(value, row.expected) << row.kind;
    EXPECT_EQ(value_at<uint16_t>(launch, Launch::kPacketBytes + at + row.size), 0u) << "behind " << row.kind;
    at += row.size + 2;
  }
}

TEST(Dispatches, CountTheDimensionsThatTheirGridUses) {
  MadeKernel kernel{.name = "kernel", .arguments = {{"hidden_grid_dims", 0, 2}}, .argument_bytes = 2};
  const Loaded loaded(kernel);
  const struct {
    Extents groups, threads;
    uint16_t expected;
  } rows[] = {{{7}, {64}, 1},      {{1}, {1}, 1},       {{1, 2}, {4}, 2},         {{4}, {4, 2}, 2},
              {{1, 1, 2}, {4}, 3}, {{4}, {4, 1, 2}, 3}, {{4, 4, 4}, {4, 4, 4}, 3}};
  for (const auto& row : rows) {
    const Launch launch = prepare(loaded.dispatch(row.groups, row.threads)).value();
    EXPECT_EQ(value_at<uint16_t>(launch, Launch::kPacketBytes), row.expected);
  }
}

TEST(Dispatches, ThePacketIsAsHsaDescribesIt) {
  const Loaded loaded({.name = "kernel", .lds_bytes = 512, .scratch_bytes = 48});
  Dispatch dispatch = loaded.dispatch(kGroups, kThreads);
  dispatch.dynamic_lds_bytes = 256;
  const Launch launch = prepare(dispatch).value();
  for (const size_t k : {0u, 1u, 2u}) {
    const uint32_t threads[] = {2, 3, 5}, grid[] = {22, 39, 85};
    EXPECT_EQ(value_at<uint16_t>(launch, 4 + 2 * k), threads[k]);
    EXPECT_EQ(value_at<uint32_t>(launch, 12 + 4 * k), grid[k]);
  }
  EXPECT_EQ(value_at<uint32_t>(launch, 24), 48u);
  EXPECT_EQ(value_at<uint32_t>(launch, 28), 768u);
  EXPECT_EQ(value_at<uint64_t>(launch, 40), launch.arguments());
  EXPECT_EQ(launch.groups, 11u * 13 * 17);
  EXPECT_EQ(launch.threads, 30u);
  EXPECT_EQ(launch.waves, 1u);
}

// ---- what is refused

TEST(Dispatches, ExtentsHaveBounds) {
  const Loaded unbounded({.name = "kernel", .most_threads = 0}), bounded({.name = "kernel", .most_threads = 100}),
      beyond({.name = "kernel", .most_threads = 4096});
  const auto takes = [](const Loaded& loaded, const Extents& groups, const Extents& threads) {
    const auto made = prepare(loaded.dispatch(groups, threads));
    if (!made) {
      EXPECT_EQ(made.error().kind, ErrorKind::usage);
    }
    return made.has_value();
  };
  for (const Loaded* loaded : {&unbounded, &beyond})
    for (const Extents& t : {Extents{1024}, {1, 1024}, {1, 1, 1024}, {32, 32}, {8, 8, 16}}) {
      EXPECT_TRUE(takes(*loaded, {}, t));
      EXPECT_FALSE(takes(*loaded, {}, {t.x * 2, t.y, t.z}));
      EXPECT_FALSE(takes(*loaded, {}, {t.x, t.y * 2, t.z}));
      EXPECT_FALSE(takes(*loaded, {}, {t.x, t.y, t.z * 2}));
    }
  EXPECT_TRUE(takes(bounded, {}, {10, 10}));
  EXPECT_FALSE(takes(bounded, {}, {101}));
  constexpr uint32_t kHalf = 1u << 16, kAll = std::numeric_limits<uint32_t>::max();
  for (const Extents& wild : {Extents{0}, {1, 0}, {1, 1, 0}, {kHalf, kHalf, 0}}) {
    EXPECT_FALSE(takes(unbounded, wild, {64}));
    EXPECT_FALSE(takes(unbounded, {}, wild));
  }
  for (const Extents& threads : {Extents{kHalf, kHalf}, {kHalf, kHalf, kHalf}, {kAll, kAll, kAll}})
    EXPECT_FALSE(takes(unbounded, {}, threads));
  for (const Extents& most : {Extents{1u << 31}, {kHalf, 1u << 15}, {kHalf, 1, 1u << 15}, {1, kHalf, 1u << 15}}) {
    EXPECT_TRUE(takes(unbounded, most, {64}));
    EXPECT_FALSE(takes(unbounded, {most.x + 1, most.y, most.z}, {64}));
    EXPECT_FALSE(takes(unbounded, {most.x, most.y + 1, most.z}, {64}));
    EXPECT_FALSE(takes(unbounded, {most.x, most.y, most.z + 1}, {64}));
  }
  EXPECT_FALSE(takes(unbounded, {kAll, kAll, kAll}, {64}));
}

TEST(Dispatches, LdsOfBothKindsIsOneSum) {
  for (const Isa isa : {Isa::gfx90a, Isa::gfx942, Isa::gfx950}) {
    const Loaded loaded({.name = "kernel", .lds_bytes = 4096}, isa);
    Dispatch dispatch = loaded.dispatch({}, {64});
    dispatch.dynamic_lds_bytes = info_of(isa).lds_bytes - 4096;
    ASSERT_TRUE(prepare(dispatch));
    EXPECT_EQ(prepare(dispatch)->lds_bytes, info_of(isa).lds_bytes);
    for (const uint32_t bytes : {dispatch.dynamic_lds_bytes + 1, ~uint32_t{0}, ~uint32_t{0} - 4095}) {
      dispatch.dynamic_lds_bytes = bytes;
      EXPECT_FALSE(prepare(dispatch)) << bytes;
    }
  }
}

TEST(Dispatches, RefuseTooMuchScratchOrTooManyArguments) {
  const auto error_of = [](const MadeKernel& kernel) {
    const Loaded loaded(kernel);
    const auto made = prepare(loaded.dispatch({}, {64}));
    return made ? std::string("made") : made.error().message;
  };
  EXPECT_EQ(error_of({.name = "kernel", .scratch_bytes = 256 * 1024}), "made");
  EXPECT_THAT(error_of({.name = "kernel", .scratch_bytes = 256 * 1024 + 4}), HasSubstr("got 262148 bytes of scratch"));
  EXPECT_EQ(error_of({.name = "kernel", .argument_bytes = 65536}), "made");
  EXPECT_THAT(error_of({.name = "kernel", .argument_bytes = 65537}), HasSubstr("and 65537 of arguments"));
}

// The last argument that is not hidden decides, wherever it stands.
TEST(Dispatches, ArgumentsHaveTheSizeOfTheExplicitOnes) {
  MadeKernel kernel{.name = "kernel", .argument_bytes = 64};
  kernel.arguments = {{"hidden_block_count_x", 32, 4}, {"by_value", 16, 4}, {"by_value", 0, 8}, {"hidden_none", 40, 8}};
  const Loaded loaded(kernel);
  const std::vector<std::byte> bytes(64);
  for (size_t count = 0; count <= bytes.size(); ++count) {
    Dispatch dispatch = loaded.dispatch({}, {64});
    dispatch.arguments = std::span(bytes).first(count);
    EXPECT_EQ(prepare(dispatch).has_value(), count == 20) << count;
  }
}

// ---- registers

// Each choice of what a descriptor may ask for: user registers in their order, the group's place behind them.
TEST(Groups, BeginWithTheScalarRegistersTheirKernelWants) {
  for (const Isa isa : {Isa::gfx90a, Isa::gfx942}) {
    Loaded loaded({.name = "kernel", .scratch_bytes = 32}, isa);
    for (uint32_t asked = 0; asked < 128; ++asked)
      for (uint32_t axes = 0; axes < 8; ++axes) {
        const bool scratch = asked % 3 == 1, info = asked % 5 == 2;
        constexpr uint32_t kWidths[] = {4, 2, 2, 2, 2, 2, 1};
        uint32_t users = 0;
        for (size_t k = 0; k < 7; ++k) users += asked >> k & 1 ? kWidths[k] : 0;
        loaded.describe(static_cast<uint16_t>(asked),
                        users << 1 | axes << 7 | (scratch ? 1u : 0u) | (info ? 1u << 10 : 0u));
        const Launch launch = prepare(loaded.dispatch({3, 5, 7}, {64})).value();
        Group group;
        group.program = &loaded.program();
        begin_group(group, launch, 2 + 3 * (4 + 5 * 6));
        std::vector<uint32_t> expected;
        const auto add = [&](uint64_t value, size_t words) {
          for (size_t w = 0; w < words; ++w) expected.push_back(w < 2 ? static_cast<uint32_t>(value >> 32 * w) : 0);
        };
        const uint64_t values[] = {0, launch.packet(), 0, launch.arguments(), 0, 0, 32};
        for (size_t k = 0; k < 7; ++k)
          if (asked >> k & 1) add(values[k], kWidths[k]);
        for (const uint32_t axis : {0u, 1u, 2u})
          if (axes >> axis & 1) add(2 + 2 * axis, 1);
        if (info) add(0, 1);
        if (scratch && isa == Isa::gfx90a) add(0, 1);
        const Wave& wave = group.waves.at(0);
        for (size_t n = 0; n < 30; ++n) {
          ASSERT_EQ(wave.scalar_written[n], n < expected.size()) << "s" << n << ", asked " << asked << ", " << axes;
          ASSERT_EQ(wave.s[n], n < expected.size() ? expected[n] : 0u) << "s" << n << ", asked " << asked;
        }
      }
  }
}

TEST(Groups, BeginWithTheModeTheirKernelAsksFor) {
  for (const bool clamps : {false, true})
    for (const bool ieee : {false, true})
      for (const uint32_t rounds : {0x00u, 0xf0u, 0xa5u, 0xffu}) {
        const uint32_t others = 0x8000'0fffu | 1u << 20 | 1u << 22;  // of rsrc1, which are nothing of MODE's
        const Loaded loaded({.name = "kernel", .rsrc1 = rounds << 12 | clamps << 21 | ieee << 23 | others});
        Group group;
        group.program = &loaded.program();
        begin_group(group, prepare(loaded.dispatch({}, {64})).value(), 0);
        EXPECT_EQ(group.waves[0].mode, rounds | (clamps ? Mode::kDx10Clamp : 0) | (ieee ? Mode::kIeee : 0));
      }
}

TEST(Groups, HaveExactlyOneLaneForEachThread) {
  const Loaded loaded({.name = "kernel", .most_threads = 1024});
  for (const Extents& t : {Extents{1}, {63}, {64}, {65}, {5, 7, 4}, {1, 1, 130}, {1, 100}, {1024}, {16, 16, 4}}) {
    const Launch launch = prepare(loaded.dispatch({}, t)).value();
    Group group;
    group.program = &loaded.program();
    begin_group(group, launch, 0);
    uint32_t thread = 0;
    for (uint32_t z = 0; z < t.z; ++z)
      for (uint32_t y = 0; y < t.y; ++y)
        for (uint32_t x = 0; x < t.x; ++x, ++thread)
          ASSERT_EQ(group.waves.at(thread / 64).v[0].at[thread % 64], x | y << 10 | z << 20) << thread;
    ASSERT_EQ(group.waves.size(), (thread + 63) / 64);
    for (const Wave& wave : group.waves) {
      const uint32_t lanes = std::min(64u, thread - 64 * wave.number);
      EXPECT_EQ(wave.exec(), lanes == 64 ? ~uint64_t{0} : (uint64_t{1} << lanes) - 1);
      EXPECT_EQ(wave.written[0], wave.exec());
      EXPECT_EQ(wave.written[1], 0u);
    }
  }
}

// All that a wave or a group may have left behind, group by group.
TEST(Groups, FindNothingOfTheGroupBefore) {
  const Loaded loaded({.name = "kernel", .lds_bytes = 256, .scratch_bytes = 16});
  const Launch launch = prepare(loaded.dispatch({4}, {128})).value();
  Group group;
  group.program = &loaded.program();
  for (uint64_t number = 0; number < 4; ++number) {
    begin_group(group, launch, number);
    EXPECT_EQ(group.number, number);
    EXPECT_EQ(group.id[0], number);
    EXPECT_FALSE(group.synchronised);
    for (size_t n = 0; n < group.lds.size(); ++n) ASSERT_EQ(group.lds.data()[n], std::byte{0});
    for (const uint32_t byte : {0u, 17u, 252u}) {
      const auto fault = group.lds.touch(byte, {.count = 1, .wave = 0, .use = LdsUse::read});
      ASSERT_TRUE(fault) << byte;
      EXPECT_EQ(fault->kind, DefectKind::uninitialised);
    }
    for (Wave& wave : group.waves) {
      EXPECT_FALSE(wave.scc);
      EXPECT_EQ(wave.mode, 0u);
      EXPECT_EQ(wave.pause, Pause::none);
      EXPECT_EQ(wave.next, loaded.program().entry());
      EXPECT_EQ(wave.exec(), ~uint64_t{0});
      EXPECT_EQ(wave.vcc(), 0u);
      for (unsigned r = 1; r < Wave::kVectorRegisters; ++r) ASSERT_EQ(wave.written[r], 0u) << r;
      for (unsigned r = 0; r < Wave::kVectorRegisters; ++r) ASSERT_EQ(wave.pending[r], 0) << r;
      for (unsigned r = 3; r < kFlatScratch; ++r) ASSERT_FALSE(wave.scalar_written[r]) << r;
      for (unsigned r = 0; r < Wave::kScalarRegisters; ++r) ASSERT_EQ(wave.scalar_pending[r], 0) << r;
      for (unsigned r = 3; r < kFlatScratch; ++r) ASSERT_EQ(wave.s[r], 0u) << r;
      for (const std::byte byte : wave.scratch) ASSERT_EQ(byte, std::byte{0});
      WaveMemory& memory = group.of(wave);
      EXPECT_EQ(memory.last, nullptr);
      for (const bool written : memory.scratch_written) ASSERT_FALSE(written);
      EXPECT_FALSE(memory.in_flight.may_be_overtaken(40, true));
      EXPECT_FALSE(memory.in_flight.may_be_overtaken(40, false));
      // Leftovers that the next group must not find.
      wave.scc = true, wave.mode = ~0u, wave.pause = Pause::ended, wave.next += 5;
      wave.s.fill(77), wave.scalar_written.fill(true), wave.written.fill(~uint64_t{0});
      memory.in_flight.issue_local(wave, {.first = 40, .registers = 2, .ordered = false});
      memory.in_flight.issue_vector(wave, {.first = 40, .registers = 2, .ordered = false});
      memory.in_flight.issue_local(wave, {.first = 20, .registers = 2, .scalar = true});
      std::fill(wave.scratch.begin(), wave.scratch.end(), std::byte{5});
      memory.scratch_written.assign(memory.scratch_written.size(), true);
      memory.last = reinterpret_cast<const Region*>(&group);
    }
    group.synchronised = true;
    group.lds.touch(0, {.count = 256, .wave = 1, .use = LdsUse::write});
    group.lds.touch(17, {.count = 1, .wave = 1, .use = LdsUse::write});
    std::memset(group.lds.data(), 9, 256);
  }
}

// ---- runs

constexpr uint32_t kEnd = 0xbf810000, kCompareUnwritten = 0x7d940502;  // s_endpgm; v_cmp_eq_u32 vcc, v2, v2

TEST(Launches, TellEachFaultOnceAndAtMostSixteen) {
  for (const size_t wrong : {1u, 15u, 16u, 17u, 40u}) {
    MadeKernel kernel{.name = "kernel"};
    kernel.code.assign(wrong, kCompareUnwritten);
    kernel.code.push_back(kEnd);
    Loaded loaded(kernel);
    for (const int threads : {1, 2}) {
      const auto run = loaded.run(loaded.dispatch({8}, {256}), {}, threads);
      ASSERT_TRUE(run) << run.error().message;
      ASSERT_EQ(run->defects.size(), std::min(wrong, Execution::kMostDefects)) << threads;
      std::vector<bool> told(wrong);
      for (const Defect& defect : run->defects) {
        EXPECT_EQ(defect.kind, DefectKind::uninitialised);
        ASSERT_LT(defect.offset / 4, wrong);
        EXPECT_FALSE(told[defect.offset / 4]) << "twice";
        told[defect.offset / 4] = true;
      }
    }
  }
}

TEST(Launches, CountTheirOwnInstructionsAndNoEarlierOnes) {
  // v_mov_b32 v1, 0 three times; s_barrier
  Loaded loaded({.name = "kernel", .code = {0x7e020280, 0x7e020280, 0x7e020280, 0xbf8a0000, kEnd}});
  for (const int threads : {1, 2, 3})
    for (const uint32_t groups : {1u, 7u}) {
      const auto run = loaded.run(loaded.dispatch({groups}, {130}), {}, threads);
      ASSERT_TRUE(run) << run.error().message;
      EXPECT_TRUE(run->defects.empty());
      const uint64_t waves = 3 * groups;
      EXPECT_EQ(run->counts.waves, waves);
      EXPECT_EQ(run->counts.vector, 3 * waves);
      EXPECT_EQ(run->counts.barriers, waves);
      EXPECT_EQ(run->counts.instructions, 5 * waves);
      EXPECT_EQ(run->counts.by_opcode.at(Opcode::s_barrier), waves);
    }
}

TEST(Launches, MayRunExactlyTheirLimitOfInstructions) {
  Loaded loaded({.name = "kernel", .code = {0x7e020280, 0x7e020280, kEnd}});
  for (const uint32_t groups : {1u, 2u, 5u})
    for (const int64_t beside : {-1, 0, 1}) {
      Checks checks;
      checks.most_instructions = static_cast<uint64_t>(2 * 3 * groups + beside);
      const auto run = loaded.run(loaded.dispatch({groups}, {128}), checks);
      ASSERT_TRUE(run) << run.error().message;
      ASSERT_EQ(run->defects.size(), beside < 0 ? 1u : 0u) << groups;
      if (beside < 0) {
        EXPECT_EQ(run->defects[0].kind, DefectKind::endless);
      }
    }
}

}  // namespace
}  // namespace rung::amdgpu
