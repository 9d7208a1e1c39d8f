// Messages of XLA's profile, as a test writes them.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <map>
#include <protozero/pbf_writer.hpp>
#include <string>
#include <utility>
#include <vector>

namespace rung::trace {

// A stat's value is a text or a number.
struct MadeStat {
  std::string name, text;
  int64_t number = 0;
  bool reference = false;  // the text is written as a name of the plane's
};

struct MadeXEvent {
  std::string name;
  int64_t offset_ps = 0, duration_ps = 0;
  std::vector<MadeStat> stats = {};
};

struct MadeXLine {
  int64_t id = 0;
  std::string name;
  int64_t start_ns = 0;
  std::vector<MadeXEvent> events = {};
};

// Writes lines before the names that they refer to, as XLA does.
class MadePlane {
 public:
  explicit MadePlane(std::string name) : name_(std::move(name)) {}
  MadePlane& line(const MadeXLine& line) { return lines_ += field(3, text_of(line)), *this; }
  MadePlane& stat(const MadeStat& stat) { return stats_ += field(6, text_of(stat)), *this; }

  // As one of XSpace's planes.
  std::string bytes(int64_t id = 2) const {
    std::string plane;
    protozero::pbf_writer writer(plane);
    if (id) writer.add_int64(1, id);
    writer.add_string(2, name_);
    plane += lines_ + names_of(4, events_) + names_of(5, stat_names_) + stats_;
    return field(1, plane);
  }

 private:
  using Numbers = std::map<std::string, int64_t>;
  static std::string field(uint32_t number, const std::string& content) {
    std::string bytes;
    protozero::pbf_writer(bytes).add_message(number, content);
    return bytes;
  }
  static int64_t number_of(Numbers& names, const std::string& name) {
    return names.try_emplace(name, static_cast<int64_t>(names.size()) + 1).first->second;
  }
  static std::string names_of(uint32_t number, const Numbers& names) {
    std::string bytes;
    for (const auto& [name, id] : names) {
      std::string metadata, entry;
      protozero::pbf_writer inner(metadata);
      inner.add_int64(1, id);
      inner.add_string(2, name);
      protozero::pbf_writer outer(entry);
      outer.add_int64(1, id);
      outer.add_message(2, metadata);
      bytes += field(number, entry);
    }
    return bytes;
  }

  std::string text_of(const MadeStat& stat) {
    std::string bytes;
    protozero::pbf_writer writer(bytes);
    writer.add_int64(1, number_of(stat_names_, stat.name));
    if (stat.reference)
      writer.add_uint64(7, static_cast<uint64_t>(number_of(stat_names_, stat.text)));
    else if (!stat.text.empty())
      writer.add_string(5, stat.text);
    else
      writer.add_int64(4, stat.number);
    return bytes;
  }
  std::string text_of(const MadeXEvent& event) {
    std::string bytes;
    protozero::pbf_writer writer(bytes);
    writer.add_int64(1, number_of(events_, event.name));
    writer.add_int64(2, event.offset_ps);
    writer.add_int64(3, event.duration_ps);
    for (const MadeStat& stat : event.stats) bytes += field(4, text_of(stat));
    return bytes;
  }
  std::string text_of(const MadeXLine& line) {
    std::string bytes;
    protozero::pbf_writer writer(bytes);
    writer.add_int64(1, line.id);
    writer.add_string(2, line.name);
    writer.add_int64(3, line.start_ns);
    for (const MadeXEvent& event : line.events) bytes += field(4, text_of(event));
    return bytes;
  }

  std::string name_, lines_, stats_;
  Numbers events_, stat_names_;
};

}  // namespace rung::trace
