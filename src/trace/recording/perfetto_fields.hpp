// Numbers of the fields read from Perfetto's messages, from its public .proto files.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <protozero/pbf_reader.hpp>
#include <string_view>

namespace rung::trace {

// Returns a field number with its encoding, as a case of a switch over tag_and_type().
constexpr uint32_t varint(uint32_t field) { return protozero::tag_and_type(field, protozero::pbf_wire_type::varint); }
constexpr uint32_t fixed64(uint32_t field) { return protozero::tag_and_type(field, protozero::pbf_wire_type::fixed64); }
constexpr uint32_t bytes(uint32_t field) {
  return protozero::tag_and_type(field, protozero::pbf_wire_type::length_delimited);
}

inline std::string_view view_of(protozero::data_view view) { return {view.data(), view.size()}; }

// Calls take(reader), which takes or skips the field at the reader. Throws protozero's exceptions.
template <class F>
void each_field(std::string_view message, const F& take) {
  protozero::pbf_reader reader(message.data(), message.size());
  while (reader.next()) take(reader);
}

// Fields of Trace
inline constexpr uint32_t kTracePacket = 1;
inline constexpr uint32_t kTracePacketTag = bytes(kTracePacket);

// Fields of TracePacket
inline constexpr uint32_t kClockSnapshot = 6, kTimestamp = 8, kSequence = 10, kTrackEvent = 11, kInternedData = 12,
                          kSequenceFlags = 13, kStateCleared = 41, kPacketsDropped = 42, kDeflatedPackets = 50,
                          kTimestampClock = 58, kPacketDefaults = 59, kTrackDescriptor = 60, kProducerProcess = 79,
                          kZstdPackets = 133;
inline constexpr uint32_t kFlagStateCleared = 1, kFlagNeedsState = 2;

// Fields of TracePacketDefaults (the clock has the packet's own number) and of TrackEventDefaults within it
inline constexpr uint32_t kTrackEventDefaults = 11, kDefaultTrack = 11;

// Fields of InternedData and its entries
inline constexpr uint32_t kInternedCategories = 1, kInternedNames = 2, kInternedAnnotations = 3;
inline constexpr uint32_t kEntryNumber = 1, kEntryName = 2;

// Fields of ClockSnapshot and its clocks
inline constexpr uint32_t kClocks = 1, kPrimaryClock = 2;
inline constexpr uint32_t kClockId = 1, kClockTimestamp = 2, kClockIncremental = 3, kClockUnit = 4;

// Fields of TrackDescriptor, ThreadDescriptor, ProcessDescriptor
inline constexpr uint32_t kTrackUuid = 1, kTrackName = 2, kTrackProcess = 3, kTrackThread = 4, kTrackParent = 5,
                          kTrackStaticName = 10;
inline constexpr uint32_t kThreadProcess = 1, kThreadId = 2, kThreadName = 5, kProcessId = 1;

// Fields of TrackEvent and its DebugAnnotation
inline constexpr uint32_t kCategoryNumbers = 3, kAnnotations = 4, kEventType = 9, kNameNumber = 10, kEventTrack = 11,
                          kCategories = 22, kName = 23, kOldFlows = 36, kOldEndingFlows = 42, kFlows = 47,
                          kEndingFlows = 48;
inline constexpr uint64_t kSliceBegin = 1, kSliceEnd = 2, kInstant = 3, kCounter = 4;
inline constexpr uint32_t kAnnotationNumber = 1, kAnnotationBool = 2, kAnnotationUint = 3, kAnnotationInt = 4,
                          kAnnotationText = 6, kAnnotationPointer = 7, kAnnotationName = 10;

}  // namespace rung::trace
