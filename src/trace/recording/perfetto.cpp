// Reads Perfetto traces of rocprofv3 (--output-format pftrace) and rocprof-sys.
// SPDX-License-Identifier: Apache-2.0
#include "trace/recording/byte_source.hpp"
#include "trace/recording/packet_window.hpp"
#include "trace/recording/perfetto_packets.hpp"
#include "trace/recording/reader.hpp"

namespace rung::trace {
namespace {

constexpr uint64_t kLeastSliceBytes = 100;  // for a begin and an end

bool looks_like_perfetto(const TraceFile& file) { return begins_with_packet(file.head); }

Status read_packets(PacketWindow& window, PerfettoPackets& packets) {
  for (;;) {
    std::string_view packet;
    RUNG_TRY(const bool more, window.next(packet));
    if (!more) return {};
    if (const Status taken = packets.take(packet); !taken)
      return bad_file("'{}': before byte {}: got {}", window.path(), window.byte(), taken.error().message);
  }
}

Result<Recording> read_perfetto(const std::string& path) {
  RUNG_TRY(ByteSource source, ByteSource::open(path));
  PerfettoRecorder recorder;
  recorder.builder().expect(source.file_bytes() * (source.packed() ? 8 : 1) / kLeastSliceBytes);
  PacketWindow window(std::move(source));
  PerfettoPackets packets(recorder);
  RUNG_CHECK(read_packets(window, packets));
  auto recording = recorder.finish();
  if (!recording) return fail_in(recording.error(), "'{}'", path);
  return recording;
}

}  // namespace

const TraceReader perfetto_reader{"Perfetto's traces of rocprofv3 and rocprof-sys", looks_like_perfetto, read_perfetto};

}  // namespace rung::trace
