// Each form of a memory instruction with each fault that it can have, and its twin without: the fault is told, the twin
// is not.
// SPDX-License-Identifier: Apache-2.0
#include <functional>

#include "team.hpp"

namespace rung::amdgpu {
namespace {

using namespace testing;
using Told = std::optional<DefectKind>;

constexpr uint32_t kPlace = 256;
constexpr uint64_t kOneLane = 1, kAllLanes = ~uint64_t{0};

const char* word_of(const Told& told) { return told ? kDefectWords[static_cast<size_t>(*told)] : "nothing"; }
#define EXPECT_TOLD(told, wanted, form, what)                                                                      \
  do {                                                                                                             \
    const Told got_ = (told), wanted_ = (wanted);                                                                  \
    EXPECT_EQ(got_ == wanted_, true) << (form).name << ", " << (what) << ": told " << word_of(got_) << ", wanted " \
                                     << word_of(wanted_);                                                          \
  } while (false)

// Calls `each` for the forms that `which` asks for; there are `count` at least.
void for_forms(size_t count, const std::function<bool(const Form&)>& which,
               const std::function<void(const Form&)>& each) {
  size_t found = 0;
  for (const Form& form : memory_forms())
    if (which(form)) ++found, each(form);
  EXPECT_GE(found, count);
}

// A wave of the first group that is about to run the form, where all of LDS and memory was written.
struct Ready {
  Team team;
  Instruction instruction;
  explicit Ready(const Form& form, uint64_t lanes = kAllLanes)
      : team(1 << 16, lanes), instruction(instruction_of(form)) {
    team.fill_lds(0);
    team.point(0, 0, form, kPlace);
  }
  Told run() { return team.run(0, 0, instruction); }
};

InstructionOperand result_of(const Form& form, unsigned r) {
  return form.is_scalar() ? scalar_operand(kResult + r) : vector_operand(kResult + r);
}
void wait_for(Team& team, bool vector, bool local) { team.wait(0, 0, vector ? 0 : 63, local ? 0 : 15); }

TEST(DetectorForms, AreAllThatAreExecuted) {
  size_t count[4] = {};
  for (const Form& form : memory_forms()) ++count[static_cast<size_t>(form.space)];
  EXPECT_GE(count[static_cast<size_t>(Space::memory)], 250u);
  EXPECT_GE(count[static_cast<size_t>(Space::lds)], 170u);
  EXPECT_EQ(count[static_cast<size_t>(Space::scratch)], 22u);
  EXPECT_GE(count[static_cast<size_t>(Space::none)], 4u);
}

// ---- waits

bool has_result(const Form& form) { return form.results != 0; }

TEST(DetectorForms, WantAWaitBeforeEachResultRegister) {
  for_forms(250, has_result, [](const Form& form) {
    for (unsigned r = 0; r < form.results; ++r) {
      Ready early(form), late(form);
      EXPECT_TOLD(early.run(), std::nullopt, form, "the form itself");
      EXPECT_TOLD(early.team.use(0, 0, result_of(form, r)), DefectKind::missing_wait, form, "a result at once");
      late.run();
      wait_for(late.team, form.counts_vector(), form.counts_local());
      EXPECT_TOLD(late.team.use(0, 0, result_of(form, r)), std::nullopt, form, "a result behind its wait");
    }
  });
}

TEST(DetectorForms, TheOtherCountersWaitPromisesNothing) {
  for_forms(250, has_result, [](const Form& form) {
    Ready ready(form);
    ready.run();
    wait_for(ready.team, !form.counts_vector(), !form.counts_local());
    if (form.is_flat()) wait_for(ready.team, true, false);
    EXPECT_TOLD(ready.team.use(0, 0, result_of(form, 0)), DefectKind::missing_wait, form, "the other counter");
  });
}

// `later` more, loads of v64 on, are issued behind it, and a wait leaves as many.
Told use_behind(const Form& form, unsigned later, unsigned left) {
  Ready ready(form, kOneLane);
  ready.run();
  const bool vector = form.counts_vector();
  Form more{.encoding = vector ? Encoding::global : Encoding::ds, .space = vector ? Space::memory : Space::lds};
  more.opcode = vector ? Opcode::global_load_dword : Opcode::ds_read_b32;
  more.results = 1;
  Instruction load = instruction_of(more);
  ready.team.point(0, 0, more, kPlace);
  for (unsigned k = 0; k < later; ++k) {
    load.destination = vector_operand(64 + k);
    EXPECT_TOLD(ready.team.run(0, 0, load), std::nullopt, form, "loads behind it");
  }
  ready.team.wait(0, 0, vector ? left : 63, vector ? 15 : left);
  return ready.team.use(0, 0, result_of(form, 0));
}
// vmcnt has six bits in two places, lgkmcnt four.
TEST(DetectorForms, LetWaitsLeaveLaterOrderedOperationsPending) {
  for_forms(250, has_result, [](const Form& form) {
    for (const unsigned later : {1u, 14u, 17u, 40u, 62u}) {
      if (!form.counts_vector() && later > 14) continue;
      const Told wanted = form.is_ordered() ? Told{} : DefectKind::missing_wait;
      if (form.is_flat() && later > 1) continue;
      EXPECT_TOLD(use_behind(form, later, later), wanted, form, later);
      EXPECT_TOLD(use_behind(form, later, later + 1), DefectKind::missing_wait, form, later + 1);
      if (form.is_ordered()) {
        EXPECT_TOLD(use_behind(form, later, later - 1), std::nullopt, form, later - 1);
      }
    }
  });
}

// Beyond what a counter can count, issuing waits.
TEST(DetectorForms, WaitForTheFirstAtAFullCounter) {
  for_forms(
      180, [](const Form& form) { return has_result(form) && form.is_ordered(); },
      [](const Form& form) {
        const unsigned most = form.counts_vector() ? 63 : 15;
        EXPECT_TOLD(use_behind(form, most, most), std::nullopt, form, "as many as the counter counts, and it");
        EXPECT_TOLD(use_behind(form, most - 1, most), DefectKind::missing_wait, form, "one less");
      });
}

TEST(DetectorForms, KeepResultsOfTheTwoCountersInOrder) {
  const auto is_vector_result = [](const Form& form) { return form.results != 0 && !form.is_scalar(); };
  for_forms(180, is_vector_result, [](const Form& form) {
    for (const bool waits : {false, true}) {
      Ready ready(form, kOneLane);
      Form other{.encoding = form.counts_vector() ? Encoding::ds : Encoding::global};
      other.opcode = form.counts_vector() ? Opcode::ds_read_b32 : Opcode::global_load_dword;
      other.space = form.counts_vector() ? Space::lds : Space::memory;
      other.results = 1;
      ready.team.point(0, 0, other, kPlace);
      Instruction load = instruction_of(other);
      load.destination = vector_operand(kResult + form.results - 1);
      ready.team.run(0, 0, load);
      if (waits) ready.team.wait(0, 0);
      ready.team.point(0, 0, form, kPlace);
      EXPECT_TOLD(ready.run(), waits ? Told{} : DefectKind::missing_wait, form, "another load of its result");
    }
  });
}

// ---- sources

TEST(DetectorForms, EachSourceIsWrittenAndThere) {
  for_forms(
      400, [](const Form&) { return true; },
      [](const Form& form) {
        const Instruction i = instruction_of(form);
        for (const InstructionOperand& source : i.sources)
          for (unsigned r = 0; r < source.registers; ++r) {
            const unsigned number = source.number + r;
            const bool scalar = source.kind == OperandKind::scalar;
            if (!scalar && source.kind != OperandKind::vgpr) continue;
            Ready unwritten(form), pending(form);
            if (scalar)
              unwritten.team.wave(0, 0).scalar_written[number] = false,
                                     pending.team.wave(0, 0).scalar_pending[number] = 1;
            else
              unwritten.team.wave(0, 0).written[number] = ~uint64_t{4}, pending.team.wave(0, 0).pending[number] = 1;
            const bool spills =
                form.space == Space::scratch && form.stores && number >= kData;  // what nobody wrote may be
            EXPECT_TOLD(unwritten.run(), spills ? Told{} : DefectKind::uninitialised, form,
                        "unwritten " + std::to_string(number));
            EXPECT_TOLD(pending.run(), DefectKind::missing_wait, form, "pending " + std::to_string(number));
          }
        if (form.needs_m0()) {
          Ready unwritten(form), pending(form);
          unwritten.team.wave(0, 0).scalar_written[kM0] = false, pending.team.wave(0, 0).scalar_pending[kM0] = 1;
          EXPECT_TOLD(unwritten.run(), DefectKind::uninitialised, form, "unwritten M0");
          EXPECT_TOLD(pending.run(), DefectKind::missing_wait, form, "pending M0");
        }
      });
}

// ---- LDS

bool in_lds(const Form& form) { return form.space == Space::lds || form.direct; }
uint32_t bytes_in_lds(const Form& form) { return form.direct ? std::max(form.bytes, 4u) : form.bytes; }
// What another wave does to one byte of a place of the first lane.
Told other_wave(Team& team, const Form& form, bool store, int place, uint32_t byte) {
  const Instruction access = byte_access(Form{.space = Space::lds}, store);
  team.wave(0, 1).set_exec(1);
  team.point(0, 1, Form{.encoding = Encoding::ds, .space = Space::lds},
             kPlace + static_cast<uint32_t>(place) * form.apart + byte);
  return team.run(0, 1, access);
}
void for_bytes(const Form& form, const std::function<void(int place, uint32_t byte)>& each) {
  for (int place = 0; place < form.places(); ++place)
    for (uint32_t byte = 0; byte < bytes_in_lds(form); byte += std::max(1u, bytes_in_lds(form) - 1)) each(place, byte);
}

TEST(DetectorForms, LetOthersReadWritesAfterWaitAndBarrier) {
  for_forms(
      120, [](const Form& form) { return form.writes_lds(); },
      [](const Form& form) {
        for_bytes(form, [&](int place, uint32_t byte) {
          Ready race(form), early(form), right(form);
          race.run();
          race.team.wait(0, 0);
          EXPECT_TOLD(other_wave(race.team, form, false, place, byte), DefectKind::lds_race, form, "no barrier");
          early.run();
          early.team.barrier(0);
          EXPECT_TOLD(other_wave(early.team, form, false, place, byte), DefectKind::missing_wait, form, "no wait");
          right.run();
          right.team.wait(0, 0);
          right.team.barrier(0);
          EXPECT_TOLD(other_wave(right.team, form, false, place, byte), std::nullopt, form, "both");
          Ready beside(form, kOneLane);
          beside.run();
          EXPECT_TOLD(other_wave(beside.team, form, true, place, bytes_in_lds(form)), std::nullopt, form,
                      "the byte behind it");
        });
      });
}

TEST(DetectorForms, ReadOthersWritesAfterAWaitAndBarrier) {
  const auto reads = [](const Form& form) { return in_lds(form) && (form.loads || form.atomic) && !form.direct; };
  for_forms(120, reads, [](const Form& form) {
    for_bytes(form, [&](int place, uint32_t byte) {
      Ready race(form), early(form), right(form), reverse(form);
      other_wave(race.team, form, true, place, byte);
      EXPECT_TOLD(race.run(), DefectKind::lds_race, form, "no barrier");
      other_wave(early.team, form, true, place, byte);
      early.team.barrier(0);
      EXPECT_TOLD(early.run(), DefectKind::missing_wait, form, "no wait");
      other_wave(right.team, form, true, place, byte);
      right.team.wait(0, 1);
      right.team.barrier(0);
      EXPECT_TOLD(right.run(), std::nullopt, form, "both");
      reverse.run();
      EXPECT_TOLD(other_wave(reverse.team, form, true, place, byte), DefectKind::lds_race, form, "written behind it");
    });
  });
}

TEST(DetectorForms, OfTwoWavesAtomicsAreNoRace) {
  for_forms(
      80, [](const Form& form) { return in_lds(form) && form.atomic; },
      [](const Form& form) {
        Ready ready(form);
        ready.team.point(0, 1, form, kPlace);
        EXPECT_TOLD(ready.run(), std::nullopt, form, "the first wave");
        EXPECT_TOLD(ready.team.run(0, 1, ready.instruction), std::nullopt, form, "the second wave");
        EXPECT_TOLD(other_wave(ready.team, form, false, 0, 0), DefectKind::lds_race, form, "a plain read among them");
      });
}

// What a wave writes once more while it is on its way is there when the last is.
TEST(DetectorForms, WantBothWritesOfAPlaceWaitedFor) {
  const auto writes = [](const Form& form) { return form.writes_lds() && form.encoding == Encoding::ds; };
  for_forms(80, writes, [](const Form& form) {
    for (int place = 0; place < form.places(); ++place)
      for (const unsigned left : {1u, 0u}) {
        Ready ready(form, kOneLane);
        Instruction again = ready.instruction;
        if (form.results != 0) again.destination = vector_operand(kResult + 8, form.results);
        ready.run();
        EXPECT_TOLD(ready.team.run(0, 0, again), std::nullopt, form, "the second write");
        ready.team.barrier(0);
        ready.team.wait(0, 0, 63, left);
        const Told told = other_wave(ready.team, form, false, place, 0);
        EXPECT_TOLD(told, left ? Told{DefectKind::missing_wait} : Told{}, form, left);
      }
  });
}

TEST(DetectorForms, EachPlaceOfLdsWasWrittenBefore) {
  const auto reads = [](const Form& form) { return form.space == Space::lds && (form.loads || form.atomic); };
  for_forms(120, reads, [](const Form& form) {
    for_bytes(form, [&](int place, uint32_t byte) {
      Team team(1 << 16, kOneLane);
      const uint32_t missing = kPlace + static_cast<uint32_t>(place) * form.apart + byte;
      Lds& lds = team.group(0).lds;
      const auto all = static_cast<uint32_t>(lds.size());
      lds.touch(0, {.count = missing, .wave = 0, .use = LdsUse::write});
      lds.touch(missing + 1, {.count = all - missing - 1, .wave = 0, .use = LdsUse::write});
      team.point(0, 0, form, kPlace);
      EXPECT_TOLD(team.run(0, 0, instruction_of(form)), DefectKind::uninitialised, form, missing);
    });
  });
}

TEST(DetectorForms, EachPlaceOfLdsIsWithinTheGroups) {
  for_forms(
      120, [](const Form& form) { return in_lds(form); },
      [](const Form& form) {
        const uint32_t end = kPlace + form.apart + bytes_in_lds(form);
        for (const uint32_t size : {end, end - 1}) {
          Team team(size, kOneLane);
          team.fill_lds(0);
          team.point(0, 0, form, kPlace);
          EXPECT_TOLD(team.run(0, 0, instruction_of(form)), size < end ? Told{DefectKind::out_of_bounds} : Told{}, form,
                      size);
        }
      });
}

// ---- memory

bool in_memory(const Form& form) { return form.space == Space::memory; }

TEST(DetectorForms, AllOfItsMemoryIsInAnAllocation) {
  for_forms(250, in_memory, [](const Form& form) {
    const uint32_t bytes = form.is_scalar() ? 4 * form.results : form.bytes, step = form.atomic        ? bytes
                                                                                    : form.is_scalar() ? 4
                                                                                                       : 1;
    for (const bool beyond : {false, true}) {
      Team team(1 << 16, kOneLane);
      team.fill_lds(0);
      team.point(0, 0, form, Team::kBytes - bytes + (beyond ? step : 0));
      team.wave(0, 0).s[kM0] = 0;
      EXPECT_TOLD(team.run(0, 0, instruction_of(form)), beyond ? Told{DefectKind::out_of_bounds} : Told{}, form,
                  beyond);
    }
  });
}

TEST(DetectorForms, AllOfItsMemoryWasWrittenBefore) {
  const auto reads = [](const Form& form) {
    return in_memory(form) && (form.loads || form.atomic || form.is_scalar());
  };
  for_forms(200, reads, [](const Form& form) {
    const uint32_t bytes = form.is_scalar() ? 4 * form.results : form.bytes;
    for (uint32_t byte = 0; byte < bytes; byte += std::max(1u, bytes - 1)) {
      Team team(1 << 16, kOneLane);
      team.fill_lds(0);
      Memory& memory = team.memory();
      const uint64_t at = memory.allocate(4096).value();
      memory.mark_written(at, byte), memory.mark_written(at + byte + 1, 4096 - byte - 1);
      team.point(0, 0, form, static_cast<uint32_t>(0));
      Wave& w = team.wave(0, 0);
      for (const unsigned s : {kBase, kResource})
        w.s[s] = static_cast<uint32_t>(at), w.s[s + 1] = static_cast<uint32_t>(at >> 32);
      if (!form.by_base && form.encoding != Encoding::mubuf)
        w.v[kAddress].at[0] = static_cast<uint32_t>(at), w.v[kAddress + 1].at[0] = static_cast<uint32_t>(at >> 32);
      EXPECT_TOLD(team.run(0, 0, instruction_of(form)), DefectKind::uninitialised, form, byte);
    }
  });
}

// What another group does to one byte of what the first lane accesses, or to one beside it.
Told other_group(Team& team, bool store, uint32_t at) {
  const Form form{.encoding = Encoding::global, .space = Space::memory};
  team.wave(1, 0).set_exec(1);
  team.point(1, 0, form, at);
  return team.run(1, 0, byte_access(form, store));
}

TEST(DetectorForms, MemoryThatOneGroupWritesNoOtherTouches) {
  for_forms(250, in_memory, [](const Form& form) {
    const bool writes = form.stores || form.atomic;
    const uint32_t bytes = form.is_scalar() ? 4 * form.results : form.bytes;
    for (const uint32_t byte : {0u, bytes - 1}) {
      Ready after(form, kOneLane), before(form, kOneLane);
      after.run();
      EXPECT_TOLD(other_group(after.team, !writes, kPlace + byte), DefectKind::global_race, form,
                  "the other behind it");
      other_group(before.team, !writes, kPlace + byte);
      EXPECT_TOLD(before.run(), DefectKind::global_race, form, "the other before it");
    }
    Ready beside(form, kOneLane), both(form, kOneLane);
    beside.run();
    EXPECT_TOLD(other_group(beside.team, true, kPlace - 1), std::nullopt, form, "the byte before it");
    EXPECT_TOLD(other_group(beside.team, true, kPlace + bytes), std::nullopt, form, "the byte behind it");
    both.run();
    both.team.point(1, 0, form, kPlace);
    both.team.wave(1, 0).set_exec(1);
    const Told same = both.team.run(1, 0, both.instruction);
    EXPECT_TOLD(same, form.stores ? Told{DefectKind::global_race} : Told{}, form, "both groups alike");
  });
}

// Groups that synchronise by atomics: who got a value back from one, or read by one what another's wrote, may know.
TEST(DetectorForms, TakeAtomicsAsSynchronisationBetweenGroups) {
  const auto is_atomic = [](const Form& form) { return in_memory(form) && form.atomic; };
  for_forms(100, is_atomic, [](const Form& form) {
    Ready ready(form, kOneLane);
    other_group(ready.team, true, 4096);
    EXPECT_TOLD(ready.run(), std::nullopt, form, "the atomic");
    ready.team.wait(0, 0);
    const Form reading{.encoding = Encoding::global, .space = Space::memory};
    ready.team.point(0, 0, reading, 4096);
    const Told told = ready.team.run(0, 0, byte_access(reading, false));
    EXPECT_TOLD(told, form.results != 0 ? Told{} : DefectKind::global_race, form, "what the other wrote before");
  });
  for (const bool agreed : {true, false}) {  // a flag, by stores and loads whose scope is the device
    Team team(1 << 12, kOneLane);
    Form form{
        .opcode = Opcode::global_store_dword, .encoding = Encoding::global, .space = Space::memory, .stores = true};
    form.data = {1};
    other_group(team, true, 4096);
    team.point(1, 0, form, kPlace);
    Instruction store = instruction_of(form);
    store.memory.sc1 = agreed;
    team.run(1, 0, store);
    Form flag{.opcode = Opcode::global_load_dword, .encoding = Encoding::global, .space = Space::memory, .loads = true};
    flag.results = 1;
    team.point(0, 0, flag, kPlace);
    Instruction load = instruction_of(flag);
    load.memory.sc1 = true;
    EXPECT_TOLD(team.run(0, 0, load), agreed ? Told{} : DefectKind::global_race, flag, "the flag");
    team.point(0, 0, flag, 4096);
    load.destination = vector_operand(50), load.memory.sc1 = false;
    EXPECT_TOLD(team.run(0, 0, load), agreed ? Told{} : DefectKind::global_race, flag, "what it stands for");
  }
}

}  // namespace
}  // namespace rung::amdgpu
