// Reads lists of numbers written one by one or packed.
// SPDX-License-Identifier: Apache-2.0
#include "trace/recording/perfetto_event.hpp"

#include <limits>

#include "trace/recording/amd_names.hpp"
#include "trace/recording/perfetto_fields.hpp"

namespace rung::trace {
namespace {

std::optional<int64_t> signed_of(uint64_t number) {
  if (number > uint64_t{std::numeric_limits<int64_t>::max()}) return std::nullopt;
  return static_cast<int64_t>(number);
}

void take_annotation(std::string_view message, const PerfettoSequence& sequence, PerfettoEvent& event) {
  std::optional<Annotation> which;
  PerfettoEvent::Value value;
  each_field(message, [&](protozero::pbf_reader& field) {
    switch (field.tag_and_type()) {
      case varint(kAnnotationNumber):
        return void(which = sequence.annotation(field.get_uint64()));
      case bytes(kAnnotationName):
        return void(which = annotation_named(view_of(field.get_view())));
      case varint(kAnnotationUint):
      case varint(kAnnotationPointer):
        return void(value.number = signed_of(field.get_uint64()));
      case varint(kAnnotationInt):
        return void(value.number = field.get_int64());
      case bytes(kAnnotationText):
        return void(value.text = view_of(field.get_view()));
      default:
        field.skip();
    }
  });
  if (which) event.annotations[static_cast<size_t>(*which)] = value;
}

void take_category(const PerfettoCategory* category, PerfettoEvent& event) {
  if (!event.category) event.category = category;
}

void take_flow(uint64_t flow, PerfettoEvent& event) {
  if (!event.flow) event.flow = flow;
}

}  // namespace

PerfettoEvent perfetto_event(std::string_view message, const PerfettoSequence& sequence, RecordingBuilder& builder) {
  PerfettoEvent event;
  event.track = sequence.track();
  each_field(message, [&](protozero::pbf_reader& field) {
    switch (field.tag_and_type()) {
      case varint(kEventType):
        return void(event.type = field.get_uint64());
      case varint(kEventTrack):
        return void(event.track = field.get_uint64());
      case varint(kNameNumber):
        return void(event.name = sequence.name(field.get_uint64()));
      case bytes(kName):
        return void(event.name = builder.text(kernel_name(view_of(field.get_view()))));
      case varint(kCategoryNumbers):
        return take_category(sequence.category(field.get_uint64()), event);
      case bytes(kCategoryNumbers):
        for (const uint64_t number : field.get_packed_uint64()) take_category(sequence.category(number), event);
        return;
      case bytes(kCategories):
        return take_category(perfetto_category(view_of(field.get_view())), event);
      case bytes(kAnnotations):
        return take_annotation(view_of(field.get_view()), sequence, event);
      case fixed64(kFlows):
      case fixed64(kEndingFlows):
        return take_flow(field.get_fixed64(), event);
      case bytes(kFlows):
      case bytes(kEndingFlows):
        for (const uint64_t flow : field.get_packed_fixed64()) take_flow(flow, event);
        return;
      case varint(kOldFlows):
      case varint(kOldEndingFlows):
        return take_flow(field.get_uint64(), event);
      default:
        field.skip();
    }
  });
  return event;
}

}  // namespace rung::trace
