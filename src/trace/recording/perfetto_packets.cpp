// The order within a packet: drop outdated state, then defaults and names, then clocks, then the event.
// SPDX-License-Identifier: Apache-2.0
#include "trace/recording/perfetto_packets.hpp"

#include "base/zlib_data.hpp"
#include "trace/recording/perfetto_fields.hpp"

namespace rung::trace {
namespace {

constexpr size_t kMostInflated = size_t{64} << 20;

}  // namespace

PerfettoPackets::Packet PerfettoPackets::packet_of(std::string_view message) {
  Packet packet;
  each_field(message, [&](protozero::pbf_reader& field) {
    switch (field.tag_and_type()) {
      case varint(kTimestamp):
        return void(packet.time = field.get_uint64());
      case varint(kTimestampClock):
        return void(packet.clock = field.get_uint32());
      case varint(kSequence):
        return void(packet.sequence = field.get_uint32());
      case varint(kProducerProcess):
        return void(packet.process = field.get_int64());
      case varint(kSequenceFlags):
        return void(packet.flags |= field.get_uint64());
      case varint(kStateCleared):
        return void(packet.flags |= field.get_bool() ? kFlagStateCleared : 0);
      case varint(kPacketsDropped):
        return void(packet.lost_others = field.get_uint64() != 0);
      case bytes(kTrackEvent):
        return void(packet.event = view_of(field.get_view()));
      case bytes(kTrackDescriptor):
        return void(packet.descriptor = view_of(field.get_view()));
      case bytes(kInternedData):
        return void(packet.interned = view_of(field.get_view()));
      case bytes(kPacketDefaults):
        return void(packet.defaults = view_of(field.get_view()));
      case bytes(kClockSnapshot):
        return void(packet.snapshot = view_of(field.get_view()));
      case bytes(kDeflatedPackets):
        return void(packet.deflated = view_of(field.get_view()));
      case bytes(kZstdPackets):
        packet.other = true;
        return field.skip();
      default:
        return field.skip();
    }
  });
  return packet;
}

Status PerfettoPackets::take(std::string_view packet) {
  try {
    return take_checked(packet, false);
  } catch (const protozero::exception& damaged) {
    return bad_file("a packet that is damaged: {}", damaged.what());
  }
}

Status PerfettoPackets::take_checked(std::string_view bytes, bool within_packed) {
  const Packet packet = packet_of(bytes);
  RecordingBuilder& builder = recorder_.builder();
  if (packet.other) builder.skip("packets packed by zstd");
  if (!packet.deflated.empty()) {
    if (!within_packed) return take_deflated(packet.deflated);
    builder.skip("packets packed twice");
    return {};
  }
  if (sequences_.size() == kMostSequences && !sequences_.contains(packet.sequence)) {
    builder.skip("packets of writers beyond what a recording holds");
    return {};
  }
  PerfettoSequence& sequence = sequences_[packet.sequence];
  take_state(packet, sequence);
  if (!packet.snapshot.empty()) {
    clocks_.take_snapshot(packet.sequence, packet.snapshot);
    return {};
  }
  std::optional<int64_t> time_ns;  // computed for every packet: some clocks count from one to the next
  if (packet.time)
    time_ns = clocks_.trace_ns(packet.sequence, packet.clock ? packet.clock : sequence.clock(), *packet.time);
  if (!packet.descriptor.empty() && !recorder_.tracks().take(packet.descriptor))
    builder.skip("tracks beyond what a recording holds");
  if (!packet.event.empty()) take_event(packet, sequence, time_ns);
  return {};
}

void PerfettoPackets::take_state(const Packet& packet, PerfettoSequence& sequence) {
  const bool cleared = (packet.flags & kFlagStateCleared) != 0;
  if (packet.lost_others) recorder_.lose(packet.sequence);
  interned_ -= sequence.interned();
  if (cleared || packet.lost_others) sequence.clear(cleared);
  if (!packet.defaults.empty()) sequence.take_defaults(packet.defaults);
  if (!packet.interned.empty()) sequence.take_interned(packet.interned, kMostInterned - interned_, recorder_.builder());
  interned_ += sequence.interned();
}

void PerfettoPackets::take_event(const Packet& packet, const PerfettoSequence& sequence,
                                 std::optional<int64_t> time_ns) {
  if ((packet.flags & kFlagNeedsState) != 0 && !sequence.valid())
    return recorder_.builder().skip("events whose names were lost");
  recorder_.take(perfetto_event(packet.event, sequence, recorder_.builder()),
                 {packet.sequence, packet.process, time_ns});
}

Status PerfettoPackets::take_deflated(std::string_view packed) {
  std::string unpacked;
  if (!inflate_all(packed, kMostInflated, unpacked)) return bad_file("packed packets that are damaged");
  Status status;
  each_field(unpacked, [&](protozero::pbf_reader& field) {
    if (!status || field.tag_and_type() != kTracePacketTag) return field.skip();
    status = take_checked(view_of(field.get_view()), true);
  });
  return status;
}

}  // namespace rung::trace
