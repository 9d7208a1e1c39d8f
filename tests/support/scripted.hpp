// A processor whose kernels are scripted: the right answer, or one that is not, after that many microseconds of a
// scripted clock. Measurements of them are exact and take no time.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <deque>
#include <initializer_list>

#include "kernels/cpu/kernel.hpp"
#include "kernels/target.hpp"
#include "support/scripted_clock.hpp"

namespace rung::scripted {

using Run = void (*)(const cpu::Call&);

inline const Kernel& reference_row(std::string_view family) { return *cpu_target().row_of(family, Role::fallback); }

inline void answer(const cpu::Call& call, double us) {
  if (call.part != 0) return;
  Clock::pass_us(us);
  reference_row(op_family(call.problem.op)).run(call);
}
inline void spoil(const cpu::Call& call) { call.out<float>()[0] += 1; }

template <int Us>
void right(const cpu::Call& call) {
  answer(call, Us);
}
template <int Us>
void wrong(const cpu::Call& call) {
  answer(call, Us);
  spoil(call);
}
// Wrong where the first number that it reads has this sign.
template <int Us, int Sign>
void wrong_for(const cpu::Call& call) {
  answer(call, Us);
  if (call.in<float>(0)[0] * Sign > 0) spoil(call);
}
// Three times as long where the first number that it reads is negative.
template <int Us>
void slow_below_zero(const cpu::Call& call) {
  answer(call, call.in<float>(0)[0] < 0 ? 3 * Us : Us);
}
// Right, after Us of which every call takes another part: 0.5 to 1.5.
template <int Us>
void erratic(const cpu::Call& call) {
  answer(call, Us * (0.5 + Clock::draw()));
}

struct NamedRun {
  std::string_view name;
  Run run;
};

// Rows of a processor without any but these, all of them good for every problem of their family.
class Rows {
 public:
  // In order of preference; the family's fallback is the last.
  void add(std::string_view family, std::initializer_list<NamedRun> kernels) {
    for (const NamedRun& kernel : kernels) {
      Kernel& row = rows_.emplace_back(reference_row(family));
      row.name = kernel.name, row.run = kernel.run, row.role = Role::fast;
      table_.push_back(&row);
    }
    table_.push_back(&reference_row(family));
  }
  // Points into these rows.
  Target target() const {
    return {
        .kind = "cpu", .name = "scripted", .fingerprint = "scripted", .machine = cpu::cpu_info(), .kernels = table_};
  }

 private:
  std::deque<Kernel> rows_;  // addresses stay
  std::vector<const Kernel*> table_;
};

}  // namespace rung::scripted
