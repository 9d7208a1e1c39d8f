// Perfetto traces that a test puts together from messages, numbers of fields as in the public .proto files.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <zlib.h>

#include <cstdint>
#include <functional>
#include <protozero/pbf_writer.hpp>
#include <string>
#include <utility>
#include <vector>

namespace rung::trace {

using Fill = std::function<void(protozero::pbf_writer&)>;

inline std::string message(const Fill& fill) {
  std::string bytes;
  protozero::pbf_writer writer(bytes);
  fill(writer);
  return bytes;
}

// An event of a track; what is empty or negative is not written.
struct MadeEvent {
  uint64_t type = 1;  // 1 begins, 2 ends
  std::string category = {}, name = {};
  int64_t track = 5;
  std::vector<std::pair<std::string, int64_t>> numbers = {};  // annotations
  std::vector<std::pair<std::string, std::string>> texts = {};
  Fill more = {};

  std::string bytes() const {
    return message([&](protozero::pbf_writer& w) {
      w.add_uint64(9, type);
      if (!category.empty()) w.add_string(22, category);
      if (!name.empty()) w.add_string(23, name);
      if (track >= 0) w.add_uint64(11, static_cast<uint64_t>(track));
      for (const auto& number : numbers)
        w.add_message(4, message([&](protozero::pbf_writer& a) {
                        a.add_string(10, number.first);
                        a.add_int64(4, number.second);
                      }));
      for (const auto& text : texts)
        w.add_message(4, message([&](protozero::pbf_writer& a) {
                        a.add_string(10, text.first);
                        a.add_string(6, text.second);
                      }));
      if (more) more(w);
    });
  }
};

// A packet; negative: not written.
struct MadePacket {
  int64_t time = -1, clock = -1;
  uint32_t sequence = 1, flags = 0;
  Fill more = {};

  std::string bytes() const {
    std::string packet = message([&](protozero::pbf_writer& w) {
      if (time >= 0) w.add_uint64(8, static_cast<uint64_t>(time));
      if (clock >= 0) w.add_uint32(58, static_cast<uint32_t>(clock));
      w.add_uint32(10, sequence);
      if (flags) w.add_uint32(13, flags);
      if (more) more(w);
    });
    return message([&](protozero::pbf_writer& w) { w.add_message(1, packet); });
  }
};

inline std::string at(int64_t time, const MadeEvent& event, MadePacket packet = {}) {
  packet.time = time;
  packet.more = [bytes = event.bytes()](protozero::pbf_writer& w) { w.add_message(11, bytes); };
  return packet.bytes();
}

// A slice: its begin and its end.
inline std::string slice(int64_t start, int64_t end, const MadeEvent& event, const MadePacket& packet = {}) {
  return at(start, event, packet) + at(end, {.type = 2, .track = event.track}, packet);
}

// A track's descriptor; `more` of it.
inline std::string track(uint64_t uuid, const std::string& name, const Fill& more = {}) {
  return MadePacket{.more =
                        [&](protozero::pbf_writer& w) {
                          w.add_message(60, message([&](protozero::pbf_writer& t) {
                                          t.add_uint64(1, uuid);
                                          if (!name.empty()) t.add_string(2, name);
                                          if (more) more(t);
                                        }));
                        }}
      .bytes();
}

struct MadeClock {
  uint32_t id;
  uint64_t time;
  bool incremental = false;
  uint64_t unit_ns = 0;
};

inline std::string snapshot(uint32_t sequence, const std::vector<MadeClock>& clocks, const Fill& more = {}) {
  MadePacket packet{.sequence = sequence};
  packet.more = [&](protozero::pbf_writer& w) {
    w.add_message(6, message([&](protozero::pbf_writer& s) {
                    for (const MadeClock& clock : clocks)
                      s.add_message(1, message([&](protozero::pbf_writer& c) {
                                      c.add_uint32(1, clock.id);
                                      c.add_uint64(2, clock.time);
                                      if (clock.incremental) c.add_bool(3, true);
                                      if (clock.unit_ns) c.add_uint64(4, clock.unit_ns);
                                    }));
                  }));
    if (more) more(w);
  };
  return packet.bytes();
}

// Of InternedData: of categories 1, of names 2, of annotations 3.
struct MadeEntry {
  uint32_t field;
  uint64_t number;
  std::string name;
};

inline void intern(protozero::pbf_writer& packet, const std::vector<MadeEntry>& entries) {
  packet.add_message(12, message([&](protozero::pbf_writer& data) {
                       for (const MadeEntry& made : entries)
                         data.add_message(made.field, message([&](protozero::pbf_writer& entry) {
                                            entry.add_uint64(1, made.number);
                                            entry.add_string(2, made.name);
                                          }));
                     }));
}

inline std::string deflated(const std::string& packets) {
  std::string packed(compressBound(packets.size()), '\0');
  uLongf size = packed.size();
  compress(reinterpret_cast<Bytef*>(packed.data()), &size, reinterpret_cast<const Bytef*>(packets.data()),
           packets.size());
  packed.resize(size);
  return MadePacket{.more = [&](protozero::pbf_writer& w) { w.add_bytes(50, packed); }}.bytes();
}

}  // namespace rung::trace
