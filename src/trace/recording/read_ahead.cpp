// Uses three chunks: one is ready, one is being read, and the reader has one.
// SPDX-License-Identifier: Apache-2.0
#include "trace/recording/read_ahead.hpp"

#include <algorithm>
#include <system_error>
#include <utility>

#include "base/guarded.hpp"
#include "base/signals.hpp"

namespace rung::trace {

// Sizes a chunk for all that a small file may unpack to, so that it takes less memory than a large file.
ReadAhead::ReadAhead(ByteSource source)
    : source_(std::move(source)), chunk_bytes_(std::min<uint64_t>(kChunk, 4096 + 8 * source_.file_bytes())) {
  if (!source_.packed() && source_.file_bytes() < kChunk) return;
  try {
    const SignalsHeld held;  // from the thread's first instruction
    thread_ = std::thread([this] { read_chunks(); });
  } catch (const std::system_error&) {
  }
}

ReadAhead::~ReadAhead() {
  {
    std::lock_guard lock(mutex_);
    stopped_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

Status ReadAhead::read_chunk(std::string& chunk) {
  return guarded([&]() -> Status {
    chunk.resize(chunk_bytes_);
    RUNG_TRY(const size_t got, source_.read(chunk.data(), chunk.size()));
    chunk.resize(got);
    return {};
  });
}

// Returns false when no more chunks are wanted.
bool ReadAhead::hand_over(std::string& chunk, Status status) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return stopped_ || !ready_; });
  if (stopped_) return false;
  ready_ = std::move(chunk);
  chunk = std::move(spare_);
  status_ = std::move(status);
  const bool last = !status_ || ready_->empty();
  lock.unlock();
  changed_.notify_all();
  return !last;
}

void ReadAhead::read_chunks() {
  std::string chunk;
  bool more = true;
  while (more) {
    Status status = read_chunk(chunk);
    more = hand_over(chunk, std::move(status));
  }
}

Status ReadAhead::next(std::string& chunk) {
  if (!thread_.joinable()) return read_chunk(chunk);
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return ready_.has_value(); });
  if (!status_) return tl::unexpected(status_.error());
  if (ready_->empty()) return chunk.clear(), Status();  // stays empty: the thread has ended
  spare_ = std::exchange(chunk, std::move(*ready_));
  ready_.reset();
  lock.unlock();
  changed_.notify_all();
  return {};
}

}  // namespace rung::trace
