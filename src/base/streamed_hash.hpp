// The content hash of bytes that come in pieces.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>

namespace rung {

class StreamedHash {
 public:
  StreamedHash();
  void add(const void* data, size_t bytes);
  uint64_t value() const;  // equals hash_bytes() of all bytes in a row

 private:
  std::shared_ptr<void> state_;
};

}  // namespace rung
