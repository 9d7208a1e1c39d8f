// The tuning database's file. "devices": device -> library versions -> problem -> winner, candidates, "evidence" and
// "lost". "models": device -> library versions -> model -> choices tried and kept, and gains of a climb's changes.
// Files of a version without "evidence", "lost" and "gains" are read; their entries are measured again.
// SPDX-License-Identifier: Apache-2.0
#include "tune/database.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "base/json.hpp"
#include "base/kept_file.hpp"
#include "base/open_file.hpp"
#include "base/user_cache.hpp"
#include "base/version.hpp"
#include "device/gpu/counted_figures.hpp"
#include "kernels/choice_json.hpp"
#include "kernels/cpu/linear/onednn_version.hpp"
#include "kernels/cpu/linear/openblas.hpp"
#include "kernels/device_word.hpp"
#include "measure/clock.hpp"

namespace rung {
namespace {

using Json = nlohmann::json;
constexpr int kVersion = 1;
constexpr double kLockSeconds = 1;  // another process holds the lock for milliseconds unless it hangs
constexpr useconds_t kLockPollMicroseconds = 10'000;

Json to_json(const Margin& margin) {
  return Json{{"ratio", margin.ratio}, {"ci95", {margin.ci95.lo, margin.ci95.hi}}, {"disturbance", margin.disturbance}};
}

Json to_json(const TunedProblem& tuned, bool counted) {
  Json json = to_json(tuned.choice), &candidates = json["candidates"] = Json::array();
  for (const auto& c : tuned.candidates) {
    candidates.push_back(to_json(c.choice));
    candidates.back().update({{"us", c.us}, {"verdict", c.verdict}});
  }
  if (tuned.margin) json["evidence"] = to_json(*tuned.margin);
  if (tuned.lost) json["lost"] = true;
  if (counted) gpu::name_counts(json["candidates"]);
  return json;
}

// Throws the JSON library's exceptions, and refuses figures that no measurement gives: they would make any entry sure.
Margin margin_from_json(const Json& json) {
  Margin margin{.ratio = json.at("ratio").get<double>(),
                .ci95 = {json.at("ci95").at(0).get<double>(), json.at("ci95").at(1).get<double>()},
                .disturbance = json.at("disturbance").get<double>()};
  const bool possible =
      margin.ci95.lo > 0 && margin.ci95.lo <= margin.ratio && margin.ratio <= margin.ci95.hi && margin.disturbance >= 0;
  if (possible) return margin;
  throw std::out_of_range("evidence: wanted 0 < ci95[0] <= ratio <= ci95[1] and disturbance >= 0, got " +
                          dump_json(json));
}

TunedProblem tuned_from_json(const Json& json) {
  TunedProblem tuned{value_or_throw(choice_from_json(json)), {}};
  for (const Json& c : json.at("candidates"))
    tuned.candidates.push_back({value_or_throw(choice_from_json(c)),
                                c.at(c.contains("us") ? "us" : "instructions").get<double>(),
                                c.at("verdict").get<std::string>()});
  if (json.contains("evidence")) tuned.margin = margin_from_json(json["evidence"]);
  if (json.contains("lost")) tuned.lost = json["lost"].get<bool>();
  return tuned;
}

Json to_json(const RefinedModel& refined) {
  Json kept = Json::object();
  for (const auto& [problem, choice] : refined.kept) kept[problem] = to_json(choice);
  return Json{{"kept", std::move(kept)}, {"tried", refined.tried}, {"gains", refined.gains}};
}

RefinedModel refined_from_json(const Json& json) {
  RefinedModel refined;
  refined.tried = json.at("tried").get<std::set<std::string>>();
  for (const auto& [problem, choice] : json.at("kept").get<std::map<std::string, Json>>())
    refined.kept[problem] = value_or_throw(choice_from_json(choice));
  refined.gains = json.value("gains", std::map<std::string, double>());
  for (const auto& [change, gain] : refined.gains)
    if (!(gain > 0)) throw std::out_of_range(fmt::format("gains: wanted more than 0, got {} of {}", gain, change));
  return refined;
}

// Reads the whole file, with every device in it.
Result<Json> read_file(const std::string& path) {
  return read_kept_file(path, {.what = "tuning database", .version = kVersion, .section = "devices"});
}

tl::unexpected<Error> damaged(const std::string& path, const std::string& entry, const std::exception& e) {
  const std::string named = entry.empty() ? "entry" : fmt::format("entry '{}'", entry);
  return bad_file("'{}': damaged {}: {}: repair or remove it", path, named, reason_of(e));
}

// Returns the entries of a section of the file for a device and these libraries, by problem or model.
template <class Entry>
Result<std::map<std::string, Entry>> entries_of(const Json& section, const std::string& device, const std::string& path,
                                                Entry (*from_json)(const Json&)) {
  std::map<std::string, Entry> entries;
  std::string entry;  // that is read; empty: none
  try {
    using Named = std::map<std::string, Json>;
    auto devices = section.get<std::map<std::string, std::map<std::string, Named>>>();
    for (const auto& [name, json] : devices[device][versions_for(device)])
      entry = name, entries[name] = from_json(json);
  } catch (const Json::exception& e) {
    return damaged(path, entry, e);
  } catch (const std::out_of_range& e) {
    return damaged(path, entry, e);
  }
  return entries;
}

Result<std::map<std::string, TunedProblem>> problems_of(const Json& file, const std::string& device,
                                                        const std::string& path) {
  return entries_of(file["devices"], device, path, tuned_from_json);
}
// A file of an earlier build has no section "models".
Result<std::map<std::string, RefinedModel>> models_of(const Json& file, const std::string& device,
                                                      const std::string& path) {
  return entries_of(file.value("models", Json::object()), device, path, refined_from_json);
}

// Held while a climb merges its findings, so that two climbs lose nothing. Polls: a blocking wait might never end.
Result<Descriptor> lock(const std::string& path, double seconds) {
  const std::string file = path + ".lock";
  Descriptor held(::open(file.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0644));
  const int64_t until = now_ns() + static_cast<int64_t>(seconds * 1e9);
  while (held) {
    if (flock(held.get(), LOCK_EX | LOCK_NB) == 0) return held;
    if (errno != EWOULDBLOCK && errno != EINTR) break;
    if (now_ns() >= until)
      return bad_file("'{}': another process holds '{}', wanted it within {} s", path, file, kLockSeconds);
    usleep(kLockPollMicroseconds);
  }
  return bad_file("'{}': cannot lock the tuning database: {}", path, std::strerror(errno));
}

}  // namespace

Result<TuningDatabase> TuningDatabase::open(std::string path, std::string device) {
  TuningDatabase database(std::move(path), std::move(device));
  RUNG_TRY(Json json, read_file(database.path_));
  RUNG_TRY(database.problems_.known, problems_of(json, database.device_, database.path_));
  RUNG_TRY(database.models_.known, models_of(json, database.device_, database.path_));
  return database;
}

Status TuningDatabase::save() {
  if (path_.empty() || (problems_.added.empty() && models_.added.empty())) return {};
  make_folder_of(path_);
  auto held = lock(path_, waited_ ? 0 : kLockSeconds);
  waited_ = waited_ || !held;
  if (!held) return tl::unexpected(held.error());
  RUNG_TRY(Json json, read_file(path_));
  RUNG_CHECK(problems_of(json, device_, path_));  // merges nothing into a damaged file
  RUNG_CHECK(models_of(json, device_, path_));
  const std::string versions = versions_for(device_);
  for (const auto& [problem, tuned] : problems_.added)
    json["devices"][device_][versions][problem] = to_json(tuned, counts_instructions(device_));
  for (const auto& [model, refined] : models_.added) json["models"][device_][versions][model] = to_json(refined);
  RUNG_CHECK(write_kept_file(path_, json));
  for (const auto& [problem, tuned] : problems_.added)
    if (new_.contains(problem)) saved_.insert(problem);
  problems_.added.clear();
  models_.added.clear();
  return {};
}

void TuningDatabase::put(const std::string& problem, TunedProblem tuned) {
  problems_.put(problem, std::move(tuned));
  new_.insert(problem);
}

void TuningDatabase::mark_lost(const std::string& problem) {
  const TunedProblem* known = find(problem);
  if (!known || known->lost) return;
  TunedProblem lost = *known;
  lost.lost = true;
  problems_.put(problem, std::move(lost));
}

size_t TuningDatabase::unsaved() const {
  return static_cast<size_t>(
      std::ranges::count_if(problems_.added, [&](const auto& entry) { return new_.contains(entry.first); }));
}

std::string default_database_path() { return user_cache_folder() + "/tuning.json"; }

std::string versions_for(const std::string& device) {
  const auto word = first_of_fingerprint(device);
  return word && word->kind != "cpu" ? fmt::format("rung {}", kRungVersion) : library_versions();
}

std::string library_versions() {
  const auto& blas = cpu::gemm::openblas();
  std::string openblas = blas ? blas->get_config() : "no OpenBLAS";  // "OpenBLAS 0.3.21 ..."
  openblas = openblas.substr(0, openblas.find(' ', openblas.find(' ') + 1));
  return fmt::format("rung {}, {}, {}", kRungVersion, cpu::gemm::onednn_version(), openblas);
}

}  // namespace rung
