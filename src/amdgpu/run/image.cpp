// Makes one block for all segments, lent to the device's memory segment by segment.
// SPDX-License-Identifier: Apache-2.0
#include "amdgpu/run/image.hpp"

#include <cstdlib>
#include <cstring>

namespace rung::amdgpu {
namespace {

constexpr size_t kPage = 4096;  // the largest alignment of segments

}  // namespace

void Image::Free::operator()(std::byte* bytes) const { std::free(bytes); }

Image::Image(const CodeObject& object, Memory& memory)
    : memory_(memory), first_(object.segments.front().address / kPage * kPage) {
  const Segment& last = object.segments.back();
  const size_t bytes = (last.address + last.bytes - first_ + kPage - 1) / kPage * kPage;
  bytes_.reset(static_cast<std::byte*>(std::aligned_alloc(kPage, bytes)));
  if (!bytes_) return;
  std::memset(bytes_.get(), 0, bytes);
  for (const Segment& segment : object.segments)
    if (!segment.data.empty()) std::memcpy(at(segment.address), segment.data.data(), segment.data.size());
  for (const Relocation& relocation : object.relocations) {
    const uint64_t value = relocation.value + base();
    std::memcpy(at(relocation.address), &value, sizeof value);
  }
  for (const Segment& segment : object.segments) memory.lend(at(segment.address), segment.bytes, segment.writable);
  for (const Segment& segment : object.segments) lent_.push_back(segment.address);
}

Result<std::unique_ptr<Image>> Image::load(const CodeObject& object, Memory& memory) {
  std::unique_ptr<Image> made(new Image(object, memory));
  if (!made->bytes_) return no_memory("a code object's image: the system has not that much memory");
  return made;
}

Image::~Image() {
  for (uint64_t address : lent_) memory_.forget(at(address));
}

uint64_t Image::base() const { return reinterpret_cast<uint64_t>(bytes_.get()) - first_; }

}  // namespace rung::amdgpu
