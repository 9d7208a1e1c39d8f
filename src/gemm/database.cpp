// The tuning database's file: version -> device -> library versions -> problem -> winner and candidates.
// SPDX-License-Identifier: Apache-2.0
#include "gemm/database.hpp"

#include <cblas.h>
#include <dnnl.h>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/atomic_file.hpp"
#include "base/version.hpp"

namespace rung {
namespace {

using Json = nlohmann::json;
constexpr int kVersion = 1;

Json to_json(const TunedProblem& tuned) {
  Json candidates = Json::array();
  for (const auto& c : tuned.candidates)
    candidates.push_back({{"kernel", c.kernel}, {"params", c.params}, {"us", c.us}, {"verdict", c.verdict}});
  return Json{{"kernel", tuned.kernel},
              {"params", std::map<std::string, int64_t>(tuned.params.begin(), tuned.params.end())},
              {"candidates", std::move(candidates)}};
}

TunedProblem tuned_from_json(const Json& json) {
  TunedProblem tuned{json.at("kernel").get<std::string>(), {}, {}};
  auto params = json.at("params").get<std::map<std::string, int64_t>>();
  tuned.params.insert(params.begin(), params.end());
  for (const Json& c : json.at("candidates"))
    tuned.candidates.push_back({c.at("kernel").get<std::string>(), c.at("params").get<std::map<std::string, long>>(),
                                c.at("us").get<double>(), c.at("verdict").get<std::string>()});
  return tuned;
}

// The whole file, every device in it.
Result<Json> read_file(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::exists(path, error)) return Json{{"version", kVersion}, {"devices", Json::object()}};
  RUNG_TRY(std::string text, read_text_file(path, 256 << 20));
  Json json = Json::parse(text, nullptr, false);
  if (!json.is_object() || json.value("version", Json()) != kVersion || !json.contains("devices") ||
      !json["devices"].is_object())
    return fail("'{}': not a tuning database of version {}: mend or remove it", path, kVersion);
  return json;
}

using Entries = std::map<std::string, TunedProblem>;

// What the file knows for a device and these libraries.
Result<Entries> entries_of(const Json& file, const std::string& device, const std::string& path) {
  Entries entries;
  try {
    using Problems = std::map<std::string, Json>;
    auto devices = file["devices"].get<std::map<std::string, std::map<std::string, Problems>>>();
    for (const auto& [problem, tuned] : devices[device][library_versions()]) entries[problem] = tuned_from_json(tuned);
  } catch (const Json::exception& e) {
    return fail("'{}': damaged entry: {}: mend or remove it", path, e.what());
  }
  return entries;
}

// Held while a climb merges its findings, so that two climbs lose nothing.
class Lock {
 public:
  explicit Lock(const std::string& path) : fd_(::open((path + ".lock").c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0644)) {
    if (fd_ >= 0) flock(fd_, LOCK_EX);
  }
  ~Lock() {
    if (fd_ >= 0) ::close(fd_);
  }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;
  explicit operator bool() const { return fd_ >= 0; }

 private:
  int fd_;
};

}  // namespace

Result<TuningDatabase> TuningDatabase::open(std::string path, std::string device) {
  TuningDatabase database(std::move(path), std::move(device));
  RUNG_TRY(Json json, read_file(database.path_));
  RUNG_TRY(database.known_, entries_of(json, database.device_, database.path_));
  return database;
}

const TunedProblem* TuningDatabase::find(const std::string& problem) const {
  auto it = known_.find(problem);
  return it == known_.end() ? nullptr : &it->second;
}

void TuningDatabase::put(const std::string& problem, TunedProblem tuned) {
  added_[problem] = tuned;
  known_[problem] = std::move(tuned);
}

Status TuningDatabase::save() {
  if (added_.empty()) return {};
  std::error_code error;
  std::filesystem::create_directories(std::filesystem::path(path_).parent_path(), error);
  Lock lock(path_);
  if (!lock) return fail("'{}': cannot lock the tuning database: {}", path_, std::strerror(errno));
  RUNG_TRY(Json json, read_file(path_));
  RUNG_CHECK(entries_of(json, device_, path_));  // nothing is merged into a damaged file
  Json& here = json["devices"][device_][library_versions()];
  for (const auto& [problem, tuned] : added_) here[problem] = to_json(tuned);
  RUNG_CHECK(write_file_atomically(path_, json.dump(1) + "\n"));
  added_.clear();
  return {};
}

std::string default_database_path() {
  if (const char* cache = std::getenv("RUNG_CACHE_DIR"); cache && *cache) return std::string(cache) + "/tuning.json";
  if (const char* cache = std::getenv("XDG_CACHE_HOME"); cache && *cache)
    return std::string(cache) + "/rung/tuning.json";
  const char* home = std::getenv("HOME");
  return std::string(home && *home ? home : ".") + "/.cache/rung/tuning.json";
}

std::string library_versions() {
  const auto* onednn = dnnl_version();
  std::string openblas = openblas_get_config();  // "OpenBLAS 0.3.21 ..."
  openblas = openblas.substr(0, openblas.find(' ', openblas.find(' ') + 1));
  return fmt::format("rung {}, oneDNN {}.{}.{}, {}", kRungVersion, onednn->major, onednn->minor, onednn->patch,
                     openblas);
}

}  // namespace rung
