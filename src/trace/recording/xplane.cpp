// Reads the xplane.pb of JAX's profiler: planes of devices and of the host, whose lines are streams and threads.
// SPDX-License-Identifier: Apache-2.0
#include <unordered_map>

#include "base/card_peaks.hpp"
#include "trace/recording/packet_window.hpp"
#include "trace/recording/reader.hpp"
#include "trace/recording/xla_events.hpp"
#include "trace/recording/xplane_fields.hpp"

namespace rung::trace {
namespace {

constexpr size_t kMostPlaneBytes = size_t{1} << 30;
constexpr uint64_t kLeastEventBytes = 24;
constexpr size_t kMostNames = 2'000'000;  // in a plane
constexpr int64_t kPsPerNs = 1000;
constexpr std::string_view kNoName = "(no name)";

using Names = std::unordered_map<int64_t, std::string_view>;

struct Stat {
  std::string_view name;
  std::string_view text;
  int64_t number = 0;
};

// A plane's texts come after its lines.
class Plane {
 public:
  explicit Plane(std::string_view message) : message_(message) {
    each_field(message, [&](protozero::pbf_reader& field) {
      switch (field.tag_and_type()) {
        case bytes(xplane::kPlaneName):
          return void(name_ = view_of(field.get_view()));
        case bytes(xplane::kEventNames):
          return add_name(event_names_, view_of(field.get_view()));
        case bytes(xplane::kStatNames):
          return add_name(stat_names_, view_of(field.get_view()));
        default:
          return field.skip();
      }
    });
  }

  std::string_view name() const { return name_; }
  std::string_view event_name(int64_t id) const {
    const auto known = event_names_.find(id);
    return known == event_names_.end() || known->second.empty() ? kNoName : known->second;
  }

  Stat stat_of(std::string_view message) const {
    Stat stat;
    each_field(message, [&](protozero::pbf_reader& field) {
      switch (field.tag_and_type()) {
        case varint(xplane::kStatName):
          return void(stat.name = stat_name(field.get_int64()));
        case varint(xplane::kStatUnsigned):
        case varint(xplane::kStatSigned):
          return void(stat.number = field.get_int64());
        case bytes(xplane::kStatText):
          return void(stat.text = view_of(field.get_view()));
        case varint(xplane::kStatReference):
          return void(stat.text = stat_name(field.get_int64()));
        default:
          return field.skip();
      }
    });
    return stat;
  }

  template <class F>
  void each_line(const F& take) const {
    each_message(xplane::kLines, take);
  }
  template <class F>
  void each_stat(const F& take) const {
    each_message(xplane::kPlaneStats, [&](std::string_view message) { take(stat_of(message)); });
  }

 private:
  std::string_view stat_name(int64_t id) const {
    const auto known = stat_names_.find(id);
    return known == stat_names_.end() ? std::string_view() : known->second;
  }

  template <class F>
  void each_message(uint32_t wanted, const F& take) const {
    each_field(message_, [&](protozero::pbf_reader& field) {
      if (field.tag_and_type() != bytes(wanted)) return field.skip();
      take(view_of(field.get_view()));
    });
  }

  static void add_name(Names& names, std::string_view entry) {
    int64_t key = 0;
    std::string_view name;
    each_field(entry, [&](protozero::pbf_reader& field) {
      if (field.tag_and_type() == varint(xplane::kMapKey)) return void(key = field.get_int64());
      if (field.tag_and_type() != bytes(xplane::kMapValue)) return field.skip();
      each_field(view_of(field.get_view()), [&](protozero::pbf_reader& inner) {
        if (inner.tag_and_type() != bytes(xplane::kMetadataName)) return inner.skip();
        name = view_of(inner.get_view());
      });
    });
    if (names.size() < kMostNames) names[key] = name;
  }

  std::string_view message_, name_;
  Names event_names_, stat_names_;
};

struct Line {
  int64_t id = 0, start_ns = 0;
  std::string_view name;

  explicit Line(std::string_view message) {
    std::string_view label;
    each_field(message, [&](protozero::pbf_reader& field) {
      switch (field.tag_and_type()) {
        case varint(xplane::kLineId):
          return void(id = field.get_int64());
        case varint(xplane::kLineStart):
          return void(start_ns = field.get_int64());
        case bytes(xplane::kLineName):
          return void(name = view_of(field.get_view()));
        case bytes(xplane::kLineLabel):
          return void(label = view_of(field.get_view()));
        default:
          return field.skip();
      }
    });
    if (name.empty()) name = label;
  }
};

// Adds times from a file without overflow; the builder refuses negative times.
std::optional<int64_t> sum_of(int64_t start_ns, int64_t offset_ps) {
  int64_t sum = 0;
  if (__builtin_add_overflow(start_ns, offset_ps / kPsPerNs, &sum)) return std::nullopt;
  return sum;
}

class XPlaneReader {
 public:
  XlaEvents& events() { return events_; }

  // Throws protozero's exceptions.
  void take(std::string_view message) {
    const Plane plane(message);
    ++plane_;
    const auto device = XlaEvents::gpu_of(plane.name());
    if (device) name_device(plane, *device);
    if (!device && !XlaEvents::is_host(plane.name())) return skip(plane);
    plane.each_line([&](std::string_view line) { take_line(plane, line, device); });
  }

  Result<Recording> finish(uint64_t packets) {
    if (packets == 0 || (events_.taken() == 0 && !events_.builder().recording().skipped.empty()))
      return bad_file("got no event on a stream of a GPU or on a thread of the host");
    return events_.builder().finish();
  }

 private:
  void skip(const Plane& plane) {
    if (!plane.name().starts_with("/device:") && !plane.name().starts_with("/host:")) return;
    plane.each_line([&](std::string_view line) {
      each_field(line, [&](protozero::pbf_reader& field) {
        if (field.tag_and_type() == bytes(xplane::kEvents))
          events_.builder().skip("events of planes that are not known");
        field.skip();
      });
    });
  }

  void name_device(const Plane& plane, int64_t device) {
    int64_t units = 0, memory = 0;
    plane.each_stat([&](const Stat& stat) {
      if (stat.name == "core_count") units = stat.number;
      if (stat.name == "memory_size") memory = stat.number;
    });
    if (const CardPeaks* card = peaks_of_size(units, memory))
      events_.builder().name_device(static_cast<size_t>(device), card->name);
  }

  void take_line(const Plane& plane, std::string_view message, std::optional<int64_t> device) {
    const Line line(message);
    const auto stream = XlaEvents::stream_of(line.name);
    if (!device && !line.name.empty()) name_thread(line);
    each_field(message, [&](protozero::pbf_reader& field) {
      if (field.tag_and_type() != bytes(xplane::kEvents)) return field.skip();
      if (device && !stream) return events_.skip_derived(), field.skip();
      take_event(plane, line, view_of(field.get_view()), {device, stream.value_or(0)});
    });
  }

  void name_thread(const Line& line) {
    const uint16_t lane = events_.builder().host_lane(plane_, line.id);
    if (lane != kNoLane) events_.builder().lane(lane).name = RecordingBuilder::short_name(line.name);
  }

  struct Place {
    std::optional<int64_t> device;
    int64_t stream;
  };

  void take_event(const Plane& plane, const Line& line, std::string_view message, const Place& place) {
    XlaEvents::Piece piece{kNoName, sum_of(line.start_ns, 0), 0};
    XlaEvents::Details details;
    bool step = false;
    each_field(message, [&](protozero::pbf_reader& field) {
      switch (field.tag_and_type()) {
        case varint(xplane::kEventName):
          return void(piece.name = plane.event_name(field.get_int64()));
        case varint(xplane::kOffset):
          return void(piece.start_ns = sum_of(line.start_ns, field.get_int64()));
        case varint(xplane::kEventDuration):
          return void(piece.duration_ns = field.get_int64() / kPsPerNs);
        case bytes(xplane::kEventStats):
          return take_stat(plane.stat_of(view_of(field.get_view())), piece, details, step);
        default:
          return field.skip();
      }
    });
    if (place.device) return events_.take_work(piece, *place.device, place.stream, details);
    events_.take_host(piece, plane_, line.id, step);
  }

  static void take_stat(const Stat& stat, XlaEvents::Piece& piece, XlaEvents::Details& details, bool& step) {
    if (stat.name == "correlation_id") piece.correlation = stat.number;
    if (stat.name == "kernel_details") details.kernel = stat.text;
    if (stat.name == "memcpy_details") details.copy = stat.text;
    if (stat.name == "memset_details") details.fill = stat.text;
    step |= stat.name == "step_num";
  }

  XlaEvents events_;
  int64_t plane_ = 0;
};

// Returns "/host:CPU" from a plane's first bytes, which hold its number, then its name.
std::string_view first_name(std::string_view head) {
  std::string_view name;
  try {
    protozero::pbf_reader space(head.data(), head.size());
    if (!space.next() || space.tag_and_type() != bytes(xplane::kPlane)) return {};
    const size_t begin = static_cast<size_t>(space.data().data() - head.data());
    size_t at = begin;
    while (at < head.size() && (head[at] & '\x80') != 0) ++at;  // skips the plane's length
    const std::string_view plane = head.substr(std::min(at + 1, head.size()));
    protozero::pbf_reader reader(plane.data(), plane.size());
    if (!reader.next()) return {};
    if (reader.tag_and_type() == varint(xplane::kPlaneId) && (reader.skip(), !reader.next())) return {};
    if (reader.tag_and_type() == bytes(xplane::kPlaneName)) name = view_of(reader.get_view());
  } catch (const protozero::exception&) {
    return {};
  }
  return name;
}

bool looks_like_xplane(const TraceFile& file) {
  const std::string_view name = first_name(file.head);
  for (const std::string_view known : {"/host:", "/device:", "Task Environment", "#Chip"})
    if (name.starts_with(known)) return true;
  return false;
}

Result<Recording> read_xplane(const std::string& path) {
  RUNG_TRY(ByteSource source, ByteSource::open(path));
  XPlaneReader reader;
  reader.events().builder().expect(source.file_bytes() * (source.packed() ? 8 : 1) / kLeastEventBytes);
  PacketWindow window(std::move(source), kMostPlaneBytes);
  uint64_t planes = 0;
  for (;; ++planes) {
    std::string_view plane;
    RUNG_TRY(const bool more, window.next(plane));
    if (!more) break;
    try {
      reader.take(plane);
    } catch (const protozero::exception& damaged) {
      return bad_file("'{}': before byte {}: got a plane that is damaged: {}", path, window.byte(), damaged.what());
    }
  }
  auto recording = reader.finish(planes);
  if (!recording) return fail_in(recording.error(), "'{}'", path);
  return recording;
}

}  // namespace

const TraceReader xplane_reader{"JAX's xplane.pb", looks_like_xplane, read_xplane};

}  // namespace rung::trace
