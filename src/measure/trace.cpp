// Writes the trace's JSON.
// SPDX-License-Identifier: Apache-2.0
#include "measure/trace.hpp"

#include <nlohmann/json.hpp>

#include "base/json.hpp"

namespace rung {
namespace {

using Json = nlohmann::ordered_json;

Json event_json(const TraceEvent& event) {
  Json json{{"name", event.name},       {"cat", event.category}, {"ph", "X"},          {"ts", event.start_us},
            {"dur", event.duration_us}, {"pid", event.process},  {"tid", event.thread}};
  for (const auto& [key, value] : event.args) std::visit([&, &k = key](const auto& v) { json["args"][k] = v; }, value);
  return json;
}

}  // namespace

void Trace::name_process(int process, std::string name) { names_.push_back({process, -1, std::move(name)}); }
void Trace::name_thread(int process, int thread, std::string name) {
  names_.push_back({process, thread, std::move(name)});
}

std::string Trace::to_json() const {
  Json events = Json::array();
  for (const Name& name : names_) {
    Json json{{"name", name.thread < 0 ? "process_name" : "thread_name"}, {"ph", "M"}, {"pid", name.process}};
    if (name.thread >= 0) json["tid"] = name.thread;
    json["args"] = {{"name", name.name}};
    events.push_back(std::move(json));
  }
  for (const TraceEvent& event : events_) events.push_back(event_json(event));
  Json root{{"displayTimeUnit", "ms"}, {"traceEvents", std::move(events)}};
  return dump_json(root);
}

}  // namespace rung
