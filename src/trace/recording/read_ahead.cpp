// One chunk is ready, one is being read, one is the reader's.
// SPDX-License-Identifier: Apache-2.0
#include "trace/recording/read_ahead.hpp"

#include <algorithm>
#include <system_error>
#include <utility>

#include "base/guarded.hpp"
#include "base/signals.hpp"

namespace rung::trace {

// A small file is not to cost the memory of a large one: what it may unpack to, in one chunk.
ReadAhead::ReadAhead(ByteSource source)
    : source_(std::move(source)), chunk_bytes_(std::min<uint64_t>(kChunk, 4096 + 8 * source_.file_bytes())) {
  if (!source_.packed() && source_.file_bytes() < kChunk) return;
  try {
    const SignalsHeld held;  // from the thread's first instruction on
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

// False: nobody wants more.
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
  if (ready_->empty()) return chunk.clear(), Status();  // stays: the thread has ended
  spare_ = std::exchange(chunk, std::move(*ready_));
  ready_.reset();
  lock.unlock();
  changed_.notify_all();
  return {};
}

}  // namespace rung::trace
