// Makes the target of a described GPU, without a vendor's library.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/described_target.hpp"

#include <map>
#include <mutex>

#include "device/gpu/described.hpp"
#include "device/gpu/gpu.hpp"
#include "device/gpu/modules.hpp"
#include "kernels/gpu/cache_line.hpp"
#include "kernels/gpu/kernel.hpp"

namespace rung {

Result<const Target*> described_target(const gpu::Card& card) {
  if (auto verdict = gpu::has_kernels_for(card.architecture); !verdict)
    return no_device("{}: {}", card.word, verdict.reason);
  static std::mutex mutex;
  static std::map<const gpu::Card*, const Target*> known;
  std::lock_guard lock(mutex);
  if (auto it = known.find(&card); it != known.end()) return it->second;
  const auto index = static_cast<int>(&card - gpu::cards().data());
  RUNG_TRY(auto opened, gpu::Gpu::open(gpu::described_runtime(), index));
  const std::string word(card.word);
  const Machine machine(cpu::cpu_info(), opened->info());
  // The target is never destroyed, like the targets of real devices.
  return known[&card] = new Target{.kind = word,
                                   .name = word,
                                   .fingerprint = word,
                                   .machine = machine,
                                   .row_bytes = gpu::kCacheLine,
                                   .kernels = gpu::all_kernels(),
                                   .gpu = std::move(opened)};
}

}  // namespace rung
