// Remembers which host blocks are on the device by their address, for as long as both are held.
// SPDX-License-Identifier: Apache-2.0
#include "session/gpu_weights.hpp"

#include <map>
#include <mutex>

#include "device/gpu/staging.hpp"

namespace rung {
namespace {

struct Uploaded {
  std::weak_ptr<const std::byte> host;  // gone: the address may have been given to something else
  std::weak_ptr<gpu::Block> device;
};

struct Table {
  std::mutex mutex;
  std::map<std::pair<gpu::Gpu*, const std::byte*>, Uploaded> blocks;

  std::shared_ptr<gpu::Block> find(gpu::Gpu* gpu, const PlanWeight& weight) {
    auto it = blocks.find({gpu, weight.data.get()});
    if (it == blocks.end() || it->second.host.expired()) return nullptr;
    auto block = it->second.device.lock();
    return block && block->bytes() == weight.bytes ? block : nullptr;
  }
};

Table& table() {
  static Table* all = new Table;  // outlives every session
  return *all;
}

}  // namespace

Result<std::vector<std::shared_ptr<gpu::Block>>> upload_weights(const Plan& plan, size_t more) {
  gpu::Gpu* gpu = plan.target->gpu.get();
  std::lock_guard lock(table().mutex);
  std::vector<std::shared_ptr<gpu::Block>> blocks;
  size_t missing = more;
  for (const auto& weight : plan.weights) {
    blocks.push_back(table().find(gpu, weight));
    if (!blocks.back()) missing += weight.bytes;
  }
  RUNG_CHECK(gpu->check_free(missing));
  std::vector<size_t> fresh;
  std::vector<gpu::HostCopy> copies;
  for (size_t i = 0; i < blocks.size(); ++i) {
    if (blocks[i]) continue;
    const PlanWeight& weight = plan.weights[i];
    RUNG_TRY(blocks[i], gpu->allocate(weight.bytes));
    fresh.push_back(i);
    copies.push_back({blocks[i]->address(), weight.data.get(), weight.bytes});
  }
  RUNG_CHECK(gpu::upload_all(*gpu, copies));
  for (size_t i : fresh) table().blocks[{gpu, plan.weights[i].data.get()}] = {plan.weights[i].data, blocks[i]};
  return blocks;
}

}  // namespace rung
