// Copies pieces of host memory through lanes: a pinned block and a stream for each thread.
// SPDX-License-Identifier: Apache-2.0
#include "device/gpu/staging.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <vector>

#include "base/parallel.hpp"
#include "device/gpu/current_context.hpp"

namespace rung::gpu {
namespace {

constexpr size_t kLanes = 8;
constexpr size_t kPiece = 8 << 20;  // bytes

struct Piece {
  const HostCopy* whole;
  size_t at, bytes;
};

// The block that one thread copies through: that thread alone makes and uses it.
class Lane {
 public:
  explicit Lane(Gpu& gpu) : gpu_(gpu), current_(gpu) {}
  ~Lane() {
    if (stream_) gpu_.runtime().stream_destroy(stream_);
    if (pinned_) gpu_.runtime().release_pinned(pinned_);
  }
  Lane(const Lane&) = delete;
  Lane& operator=(const Lane&) = delete;

  Status open() {
    RUNG_CHECK(gpu_.check(gpu_.runtime().stream_create(&stream_), "creating a stream"));
    return errors_of(ErrorKind::memory,
                     gpu_.check(gpu_.runtime().allocate_pinned(&pinned_, kPiece), "allocating pinned memory"));
  }
  Status pass(const Piece& piece) {
    const HostCopy& whole = *piece.whole;
    if (whole.read && *whole.read)
      RUNG_CHECK((*whole.read)(piece.at, pinned_, piece.bytes));
    else
      std::memcpy(pinned_, static_cast<const std::byte*>(whole.from) + piece.at, piece.bytes);
    RUNG_CHECK(gpu_.check(gpu_.runtime().upload(whole.to + piece.at, pinned_, piece.bytes, stream_), "upload"));
    return gpu_.check(gpu_.runtime().stream_synchronize(stream_), "upload");
  }

 private:
  Gpu& gpu_;
  const CurrentContext current_;
  Stream stream_ = nullptr;
  void* pinned_ = nullptr;
};

std::vector<Piece> cut(std::span<const HostCopy> copies) {
  std::vector<Piece> pieces;
  for (const HostCopy& copy : copies)
    for (size_t at = 0; at < copy.bytes; at += kPiece) pieces.push_back({&copy, at, std::min(kPiece, copy.bytes - at)});
  return pieces;
}

}  // namespace

Status upload_all(Gpu& gpu, std::span<const HostCopy> copies) {
  const std::vector<Piece> pieces = cut(copies);
  std::atomic<size_t> next{0};
  size_t lanes = std::min(kLanes, pieces.size());
  std::vector<Status> done(lanes);
  parallel_for(lanes, [&](size_t index) {
    Lane lane(gpu);
    done[index] = lane.open();
    for (size_t i; done[index] && (i = next.fetch_add(1)) < pieces.size();) done[index] = lane.pass(pieces[i]);
  });
  for (Status& status : done) RUNG_CHECK(std::move(status));
  return {};
}

}  // namespace rung::gpu
