// A field of the trace is a tag, a length, and that number of bytes; fields other than packets are skipped.
// SPDX-License-Identifier: Apache-2.0
#include "trace/recording/packet_window.hpp"

#include <protozero/pbf_reader.hpp>

#include "trace/recording/perfetto_fields.hpp"

namespace rung::trace {
namespace {

constexpr size_t kMostVarintBytes = 10;

// Reads a number at `at`, and moves `at` behind it.
enum class Varint : uint8_t { ok, more, bad };
Varint take_varint(std::string_view bytes, size_t& at, uint64_t& value) {
  value = 0;
  for (size_t i = 0; i < kMostVarintBytes; ++i) {
    if (at + i >= bytes.size()) return Varint::more;
    const auto byte = static_cast<uint8_t>(bytes[at + i]);
    value |= uint64_t{byte & 0x7fu} << (7 * i);
    if (byte < 0x80) return at += i + 1, Varint::ok;
  }
  return Varint::bad;
}

}  // namespace

PacketWindow::Part PacketWindow::scan(std::string_view& content) {
  const std::string_view bytes = bytes_;
  size_t at = at_;
  uint64_t tag = 0, length = 0;
  const Varint read = take_varint(bytes, at, tag);
  if (read != Varint::ok) return read == Varint::more ? Part::more : Part::bad;
  if ((tag & 7) != static_cast<uint64_t>(protozero::pbf_wire_type::length_delimited) || tag < 8) return Part::bad;
  const Varint measured = take_varint(bytes, at, length);
  if (measured != Varint::ok) return measured == Varint::more ? Part::more : Part::bad;
  if (length > most_bytes_) return Part::bad;
  if (length > bytes.size() - at) return Part::more;
  content = bytes.substr(at, length);
  at_ = at + length;
  return tag >> 3 == kTracePacket ? Part::packet : Part::other;
}

Result<bool> PacketWindow::next(std::string_view& packet) {
  for (;;) {
    switch (scan(packet)) {
      case Part::packet:
        return true;
      case Part::other:
        continue;
      case Part::bad:
        return bad_file("'{}': byte {}: got byte {:02x}, wanted a packet of at most {} MB", path_, byte(),
                        static_cast<uint8_t>(bytes_[at_]), most_bytes_ >> 20);
      case Part::more:
        break;
    }
    RUNG_TRY(const bool grown, refill());
    if (grown) continue;
    if (at_ == bytes_.size()) return false;
    return bad_file(
        "'{}': ends at byte {} within a packet: the file is cut short, as by a program that ended while "
        "writing it",
        path_, before_ + bytes_.size());
  }
}

Result<bool> PacketWindow::refill() {
  RUNG_CHECK(chunks_.next(chunk_));
  if (chunk_.empty()) return false;
  bytes_.erase(0, at_);
  before_ += at_;
  at_ = 0;
  bytes_ += chunk_;
  return true;
}

bool begins_with_packet(std::string_view head) {
  size_t at = 0;
  uint64_t tag = 0, length = 0;
  if (take_varint(head, at, tag) != Varint::ok || tag != kTracePacketTag) return false;
  if (take_varint(head, at, length) != Varint::ok) return false;
  const std::string_view packet = head.substr(at, length);
  try {
    protozero::pbf_reader reader(packet.data(), packet.size());
    while (reader.next()) reader.skip();
  } catch (const protozero::end_of_buffer_exception&) {
    return packet.size() < length;  // continues beyond the head
  } catch (const protozero::exception&) {
    return false;
  }
  return !packet.empty();
}

}  // namespace rung::trace
