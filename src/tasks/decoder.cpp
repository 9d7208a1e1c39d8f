// Builds one plan for each size of a chunk; chunks that are longer than a text would be are left out.
// SPDX-License-Identifier: Apache-2.0
#include "tasks/decoder.hpp"

#include <algorithm>

#include "open/open_model.hpp"
#include "tasks/build.hpp"

namespace rung::tasks {
namespace {

constexpr int64_t kProcessorChunk = 512, kGpuChunk = 4096;  // tokens

std::vector<int64_t> usual_chunks(const OpenOptions& model) {
  std::vector<int64_t> sizes = {1, 8, 64, kProcessorChunk};
  if (const int64_t longest = usual_longest_chunk(model); longest > sizes.back()) sizes.push_back(longest);
  return sizes;
}

Result<PlanSet> plans_of_directory(const DecoderTask& task) {
  std::vector<int64_t> sizes = task.chunks.empty() ? usual_chunks(task.model) : task.chunks;
  std::erase_if(sizes, [&](int64_t size) { return size > task.length; });
  if (sizes.empty()) sizes.push_back(1);
  std::vector<BuildTask> all;
  for (int64_t size : sizes) {
    BuildTask& one = all.emplace_back(BuildTask{.model = task.model, .recipe = task.recipe});
    one.model.cache = {.length = task.length,
                       .largest_chunk = *std::ranges::max_element(sizes),
                       .scored_chunk = task.scored_chunk,
                       .source = task.source};
    one.model.shapes[task.has_encoder ? "decoder_input_ids" : "input_ids"] = {1, size};
  }
  if (task.has_encoder) {
    BuildTask& encoder = all.emplace_back(BuildTask{.model = task.model, .recipe = task.recipe});
    encoder.model.cache = all[0].model.cache;
    encoder.model.cache.encodes = true;
  }
  RUNG_TRY(BuiltSet built, build_set(all));
  return built.plans;
}

}  // namespace

int64_t usual_longest_chunk(const OpenOptions& model) {
  return model.device && model.device->kind != "cpu" ? kGpuChunk : kProcessorChunk;
}

Result<PlanSet> decoder_plans(const DecoderTask& task) {
  if (!is_plan_file(task.model.path)) return plans_of_directory(task);
  if (task.recipe) return wrong_usage("'{}' is a plan, which has its own recipe", task.model.path);
  RUNG_TRY(Opened opened, open_model(task.model));
  return std::move(*opened.plans);
}

Result<Decoder> open_decoder(const DecoderTask& task) {
  RUNG_TRY(PlanSet plans, decoder_plans(task));
  return Decoder::create(std::move(plans));
}

}  // namespace rung::tasks
