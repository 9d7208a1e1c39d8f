// Keeps no categories and annotations that no code reads.
// SPDX-License-Identifier: Apache-2.0
#include "trace/recording/perfetto_sequence.hpp"

#include "trace/recording/amd_names.hpp"
#include "trace/recording/perfetto_fields.hpp"

namespace rung::trace {
namespace {

struct AnnotationName {
  std::string_view name;
  Annotation annotation;
};

// Names of rocprofv3's and rocprof-sys's annotations, in all their versions.
constexpr AnnotationName kAnnotationNames[] = {
    {"corr_id", Annotation::correlation},
    {"stack_id", Annotation::correlation},
    {"tid", Annotation::thread},
    {"agent", Annotation::agent},
    {"device", Annotation::device},
    {"queue", Annotation::queue},
    {"stream_ID", Annotation::stream},
    {"stream_id", Annotation::stream},
    {"kernel_id", Annotation::kernel},
    {"src_agent", Annotation::source},
    {"dst_agent", Annotation::destination},
    {"copy_bytes", Annotation::bytes},
    {"LDS_Block_Size", Annotation::shared_bytes},
    {"group_segment_size", Annotation::shared_bytes},
    {"VGPR_Count", Annotation::registers},
    {"Accum_VGPR_Count", Annotation::accumulators},
    {"workgroup_size", Annotation::block},
    {"grid_size", Annotation::grid},
};

struct Entry {
  uint64_t number = 0;
  std::string_view name;
};

// Reads EventCategory, EventName and DebugAnnotationName, which have the same form.
Entry entry_of(std::string_view message) {
  Entry entry;
  each_field(message, [&](protozero::pbf_reader& field) {
    switch (field.tag_and_type()) {
      case varint(kEntryNumber):
        return void(entry.number = field.get_uint64());
      case bytes(kEntryName):
        return void(entry.name = view_of(field.get_view()));
      default:
        field.skip();
    }
  });
  return entry;
}

template <class T>
std::optional<T> value_of(const std::unordered_map<uint64_t, T>& map, uint64_t number) {
  const auto known = map.find(number);
  return known == map.end() ? std::nullopt : std::optional(known->second);
}

}  // namespace

std::optional<Annotation> annotation_named(std::string_view name) {
  for (const AnnotationName& known : kAnnotationNames)
    if (known.name == name) return known.annotation;
  return std::nullopt;
}

void PerfettoSequence::clear(bool valid) {
  *this = {};
  valid_ = valid;
}

void PerfettoSequence::take_defaults(std::string_view message) {
  each_field(message, [&](protozero::pbf_reader& field) {
    switch (field.tag_and_type()) {
      case varint(kTimestampClock):
        return void(clock_ = field.get_uint32());
      case bytes(kTrackEventDefaults):
        return each_field(view_of(field.get_view()), [&](protozero::pbf_reader& inner) {
          if (inner.tag_and_type() == varint(kDefaultTrack))
            track_ = inner.get_uint64();
          else
            inner.skip();
        });
      default:
        field.skip();
    }
  });
}

void PerfettoSequence::take_interned(std::string_view message, size_t most, RecordingBuilder& builder) {
  each_field(message, [&](protozero::pbf_reader& field) {
    const uint32_t tag = field.tag_and_type();
    if (tag != bytes(kInternedCategories) && tag != bytes(kInternedNames) && tag != bytes(kInternedAnnotations))
      return field.skip();
    const Entry entry = entry_of(view_of(field.get_view()));
    if (interned() >= most) return builder.skip("numbered names beyond what a recording holds");
    if (tag == bytes(kInternedNames)) {
      names_[entry.number] = builder.text(kernel_name(entry.name));
    } else if (tag == bytes(kInternedCategories)) {
      if (const auto* category = perfetto_category(entry.name)) categories_[entry.number] = category;
    } else if (const auto annotation = annotation_named(entry.name)) {
      annotations_[entry.number] = *annotation;
    }
  });
}

uint32_t PerfettoSequence::name(uint64_t number) const { return value_of(names_, number).value_or(0); }
const PerfettoCategory* PerfettoSequence::category(uint64_t number) const {
  return value_of(categories_, number).value_or(nullptr);
}
std::optional<Annotation> PerfettoSequence::annotation(uint64_t number) const { return value_of(annotations_, number); }

}  // namespace rung::trace
