// Runs the waves of work-groups in turns from barrier to barrier, and groups on several threads.
// SPDX-License-Identifier: Apache-2.0
#include "amdgpu/run/execute.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <numeric>
#include <system_error>
#include <thread>

#include "amdgpu/isa/decode.hpp"
#include "amdgpu/run/global_races.hpp"
#include "amdgpu/run/group.hpp"
#include "amdgpu/run/memory.hpp"
#include "amdgpu/run/program.hpp"
#include "base/random.hpp"
#include "base/signals.hpp"

namespace rung::amdgpu {
namespace {

// State that the threads of a launch share.
struct Shared {
  const Launch& launch;
  const Checks& checks;
  std::atomic<uint64_t> next_group{0}, instructions{0};
  std::atomic<bool> over{false};
  std::atomic<bool> told{false};    // there is a defect after which waves go on
  std::atomic<uint64_t> behind{0};  // instructions since then
  std::mutex mutex;
  Execution result;
};

// Keeps groups of finished launches, so that their registers and shadows need not be made again.
class Groups {
 public:
  std::unique_ptr<Group> take() {
    std::lock_guard lock(mutex_);
    if (kept_.empty()) return std::make_unique<Group>();
    auto group = std::move(kept_.back());
    kept_.pop_back();
    return group;
  }
  void give_back(std::unique_ptr<Group> group) {
    std::lock_guard lock(mutex_);
    if (kept_.size() < kMost) kept_.push_back(std::move(group));
  }

 private:
  static constexpr size_t kMost = 64;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Group>> kept_;
};
Groups& groups() {
  static Groups all;
  return all;
}

class Worker {
 public:
  Worker(Shared& shared, Memory& memory, GlobalRaces* races) : shared_(shared), own_(groups().take()), group_(*own_) {
    group_.program = shared.launch.dispatch.program;
    group_.memory = &memory;
    group_.checks = shared.checks;
    group_.races = races;
    group_.executed.assign(group_.program->code().instructions().size(), 0);
    group_.counts = {};
    group_.instructions = 0;
    group_.found.clear();
    group_.goes_on = true;
  }

  void run() {
    while (!shared_.over) {
      const uint64_t number = shared_.next_group++;
      if (number >= shared_.launch.groups) break;
      begin_group(group_, shared_.launch, number);
      drawn_ = 0;
      run_group();
      report_told();
    }
    finish();
  }

 private:
  static constexpr uint64_t kLongTurn = 1 << 16;
  static constexpr uint64_t kMostBehind = 1 << 24;  // values may be undefined then, and loops on them endless

  uint64_t below(uint64_t count) { return random_bits(shared_.checks.shuffle_seed + group_.number, drawn_++) % count; }

  void run_group() {
    group_.counts.waves += group_.waves.size();
    order_.resize(group_.waves.size());
    std::iota(order_.begin(), order_.end(), 0u);
    while (!shared_.over) {
      if (shared_.checks.shuffle_seed != 0)
        for (size_t k = order_.size(); k > 1; --k) std::swap(order_[k - 1], order_[below(k)]);
      bool all_stand = true;
      for (const uint32_t n : order_) {
        Wave& wave = group_.waves[n];
        if (wave.pause != Pause::none) continue;
        turn(wave);
        if (!group_.found.empty()) report_told();
        if (wave.pause == Pause::failed) return report(wave);
        all_stand &= wave.pause != Pause::none;
      }
      if (all_stand && !pass_barrier()) return;
    }
  }

  // Runs some instructions of a wave, at most to a barrier or its end.
  void turn(Wave& wave) {
    const uint64_t most = shared_.checks.shuffle_seed != 0 ? 1 + below(200) : kLongTurn;
    const Instruction* instructions = group_.program->code().instructions().data();
    const Handler* handlers = group_.program->code().handlers().data();
    uint64_t* executed = group_.executed.data();
    uint64_t left = most;
    for (; left != 0 && wave.pause == Pause::none; --left) {
      const uint32_t index = wave.next++;
      ++executed[index];
      handlers[index](wave, instructions[index]);
    }
    group_.instructions += most - left;
    if (shared_.told && (shared_.behind += most - left) > kMostBehind) shared_.over = true;
    if (shared_.instructions.fetch_add(most - left) + (most - left) > shared_.checks.most_instructions)
      wave.fail(DefectKind::endless, instructions[wave.next], -1,
                fmt::format("more than {} instructions", shared_.checks.most_instructions));
  }

  // Lets waves go on when all of them stand. Returns false if the group is done, or stands at different barriers.
  bool pass_barrier() {
    Wave* first = nullptr;
    for (Wave& wave : group_.waves) {
      if (wave.pause != Pause::barrier) continue;
      if (first == nullptr) first = &wave;
      if (wave.next == first->next) continue;
      const DecodedCode& code = group_.program->code();
      const uint64_t other = code.address_of(first->next - 1) - group_.program->kernel().entry;
      wave.fail(DefectKind::divergent_barrier, code.instructions()[wave.next - 1], -1,
                fmt::format("wave {} waits at the barrier at +{:#x}", first->number, other));
      report(wave);
      return false;
    }
    if (first == nullptr) return false;
    group_.lds.barrier();
    for (Wave& wave : group_.waves)
      if (wave.pause == Pause::barrier) wave.pause = Pause::none;
    return true;
  }

  // `index` is the instruction's.
  Defect complete(Defect defect, uint64_t index) const {
    const Program& program = *group_.program;
    defect.kernel = program.kernel().name;
    defect.offset = program.code().address_of(index) - program.kernel().entry;
    const Instruction& instruction = program.code().instructions()[index];
    defect.instruction = instruction.bytes == 0 ? "?" : to_text(instruction, program.code().isa());
    defect.group = group_.id;
    return defect;
  }

  // Puts a defect behind those told before, but keeps races between groups last.
  static void put(Defect defect, std::vector<Defect>& all) {
    const auto is_race = [](const Defect& f) { return f.kind == DefectKind::global_race; };
    all.insert(is_race(defect) ? all.end() : std::ranges::find_if(all, is_race), std::move(defect));
  }
  void report(Wave& wave) {
    Defect defect = complete(wave.defect, wave.next - 1);
    std::lock_guard lock(shared_.mutex);
    if (!shared_.over.exchange(true)) put(std::move(defect), shared_.result.defects);
  }

  // Each defect of a kind at an instruction is told once.
  void report_told() {
    for (const Defect& each : group_.found) {
      Defect defect = complete(each, each.offset);
      std::lock_guard lock(shared_.mutex);
      auto& told = shared_.result.defects;
      const auto same = [&](const Defect& f) { return f.kind == defect.kind && f.offset == defect.offset; };
      if (told.size() >= Execution::kMostDefects || std::ranges::any_of(told, same)) continue;
      shared_.told = shared_.told || leaves_values(defect.kind);
      put(std::move(defect), told);
      if (told.size() >= Execution::kMostDefects) shared_.over = true;
    }
    group_.found.clear();
  }

  void finish() {
    count_classes(group_.program->code().instructions(), group_.executed, group_.counts);
    std::unique_lock lock(shared_.mutex);
    shared_.result.counts.add(group_.counts);
    lock.unlock();
    groups().give_back(std::move(own_));
  }

  Shared& shared_;
  std::unique_ptr<Group> own_;
  Group& group_;
  std::vector<uint32_t> order_;
  uint64_t drawn_ = 0;
};

// Makes the launch's own memory reachable while it lasts.
class Lent {
 public:
  Lent(Memory& memory, std::vector<std::byte>& block) : memory_(memory), block_(block) {
    memory_.lend(block_.data(), block_.size(), false);
  }
  ~Lent() { memory_.forget(block_.data()); }
  Lent(const Lent&) = delete;
  Lent& operator=(const Lent&) = delete;

 private:
  Memory& memory_;
  std::vector<std::byte>& block_;
};

}  // namespace

Result<Execution> execute(const Dispatch& dispatch, Memory& memory, const Checks& checks, int threads) {
  auto launch = prepare(dispatch);
  if (!launch) return tl::unexpected(launch.error());
  const Lent lent(memory, launch->block);
  Shared shared{.launch = *launch, .checks = checks};
  static thread_local GlobalRaces races;
  GlobalRaces* watched = nullptr;
  if (checks.races && launch->groups > 1 && launch->groups <= GlobalRaces::kMostGroups) {
    watched = &races;
    races.begin(launch->groups);
  }
  const auto work = [&] { Worker(shared, memory, watched).run(); };
  const SignalsHeld held;
  std::vector<std::jthread> others;
  const uint64_t wanted = std::min<uint64_t>(std::max(threads, 1), launch->groups);
  try {
    for (uint64_t n = 1; n < wanted; ++n) others.emplace_back(work);
  } catch (const std::system_error&) {  // no more threads available: those that run do all the work
  }
  work();
  others.clear();
  return std::move(shared.result);
}

}  // namespace rung::amdgpu
