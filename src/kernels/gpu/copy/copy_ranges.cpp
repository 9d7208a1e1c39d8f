// Collects ranges and launches their copies: each range has a row of blocks, as many as the longest range needs.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/gpu/copy/copy_ranges.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace rung::gpu {

Result<std::unique_ptr<RangeCopies>> RangeCopies::make(Gpu& gpu) {
  Result<Function> found = gpu.function("copy_ranges", "copy_ranges");
  if (!found && found.error().kind == ErrorKind::device) return nullptr;  // there is no such module
  RUNG_TRY(Function function, std::move(found));
  return std::unique_ptr<RangeCopies>(new RangeCopies(gpu, function));
}

void RangeCopies::add(Address to, Address from, size_t bytes) {
  arguments_.ranges[count_++] = {from, to, bytes, std::gcd(uint64_t{16}, from | to | bytes)};
  longest_ = std::max(longest_, uint64_t{bytes});
}

Status RangeCopies::launch(Stream stream) {
  const uint32_t count = std::exchange(count_, 0);
  const uint64_t longest = std::exchange(longest_, 0);
  if (longest == 0) return {};
  const auto pieces = static_cast<uint32_t>((longest + kCopiedPiece - 1) / kCopiedPiece);
  void* parameters[] = {&arguments_};
  const Launch of_ranges{
      .grid = {pieces, count}, .block = {kCopyRangesThreads}, .dependent = gpu_.info().dependent_launch};
  return gpu_.check(gpu_.runtime().launch(function_, of_ranges, parameters, stream), "copying");
}

}  // namespace rung::gpu
