// Remembers by address which host blocks are on the device, for as long as both blocks are held.
// SPDX-License-Identifier: Apache-2.0
#include "session/gpu_weights.hpp"

#include <map>
#include <mutex>

#include "device/gpu/staging.hpp"

namespace rung {
namespace {

struct Uploaded {
  std::weak_ptr<const std::byte> host;  // expired: the address may have been reused
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
  std::map<const std::byte*, std::shared_ptr<gpu::Block>> by_host;  // weights of one plan may share contents, too
  std::vector<const PlanWeight*> missing;
  size_t wanted = more;
  for (const auto& weight : plan.weights) {
    auto [it, added] = by_host.try_emplace(weight.data.get(), table().find(gpu, weight));
    if (!added || it->second) continue;
    missing.push_back(&weight);
    wanted += weight.bytes;
  }
  RUNG_CHECK(gpu->check_free(wanted));
  std::vector<gpu::HostCopy> copies;
  for (const PlanWeight* weight : missing) {
    RUNG_TRY(auto block, gpu->allocate(weight->bytes));
    copies.push_back({block->address(), weight->data.get(), weight->bytes, &weight->read});
    by_host[weight->data.get()] = std::move(block);
  }
  RUNG_CHECK(gpu::upload_all(*gpu, copies));
  for (const PlanWeight* weight : missing)
    table().blocks[{gpu, weight->data.get()}] = {weight->data, by_host[weight->data.get()]};
  std::vector<std::shared_ptr<gpu::Block>> blocks;
  for (const auto& weight : plan.weights) blocks.push_back(by_host[weight.data.get()]);
  return blocks;
}

}  // namespace rung
