// Walks from this process's control groups up to their mounts and keeps the least quota.
// SPDX-License-Identifier: Apache-2.0
#include "base/cores.hpp"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <sstream>
#include <vector>

namespace rung {
namespace {

std::vector<std::string> split(const std::string& text, char at) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, at);) parts.push_back(part);
  return parts;
}

bool contains(const std::vector<std::string>& words, const std::string& word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

std::string content(const std::string& path) {
  std::ifstream file(path);
  std::string text;
  std::getline(file, text, '\0');
  return text;
}

// Returns the number of processors in a list: 5 for "0-3,8".
int count_of(const std::string& list) {
  int count = 0;
  for (const std::string& range : split(list, ',')) {
    char* end = nullptr;
    const long first = std::strtol(range.c_str(), &end, 10);
    const long last = *end == '-' ? std::strtol(end + 1, nullptr, 10) : first;
    if (end != range.c_str() && first >= 0 && last >= first && last < (1 << 20))
      count += static_cast<int>(last - first + 1);
  }
  return count;
}

int allowed_by_mask(const std::string& root) {
  for (const std::string& line : split(content(root + "/proc/self/status"), '\n'))
    if (line.starts_with("Cpus_allowed_list:"))
      if (const int count = count_of(line.substr(18)); count > 0) return count;
  return 0;
}

// A hierarchy of control groups that limits processor time: of version 2, or of version 1 with the controller "cpu".
struct Hierarchy {
  int version = 0;
  std::string mount;  // without the root, and without the '/' that begins it
  std::string group;  // of this process, below the mount: "" or "/a/b"
};

// Parses "36 35 98:0 /mounted/group /mount/point rw,noatime - cgroup cgroup rw,cpu,cpuacct".
std::optional<Hierarchy> hierarchy_of(const std::string& mountinfo_line, std::string& mounted_group) {
  const auto words = split(mountinfo_line, ' ');
  const auto dash = std::find(words.begin(), words.end(), "-");
  if (words.size() < 6 || words.end() - dash < 4 || words[4].empty()) return std::nullopt;
  Hierarchy hierarchy{0, words[4].substr(1), ""};
  mounted_group = words[3];
  if (dash[1] == "cgroup2") hierarchy.version = 2;
  if (dash[1] == "cgroup" && contains(split(dash[3], ','), "cpu")) hierarchy.version = 1;
  return hierarchy.version == 0 ? std::nullopt : std::optional(hierarchy);
}

// Returns the group in a line "0::/group" of version 2, "4:cpu,cpuacct:/group" of version 1.
std::optional<std::string> group_of(const std::string& cgroups, int version) {
  for (const std::string& line : split(cgroups, '\n')) {
    const size_t first = line.find(':'), second = line.find(':', first + 1);
    if (first == line.npos || second == line.npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    if (version == 2 ? controllers.empty() : contains(split(controllers, ','), "cpu")) return line.substr(second + 1);
  }
  return std::nullopt;
}

// A container sees its group at the mount itself; the path of the group may still begin outside of it.
std::vector<Hierarchy> hierarchies(const std::string& root) {
  std::vector<Hierarchy> found;
  const std::string cgroups = content(root + "/proc/self/cgroup");
  for (const std::string& line : split(content(root + "/proc/self/mountinfo"), '\n')) {
    std::string mounted;
    auto hierarchy = hierarchy_of(line, mounted);
    if (!hierarchy) continue;
    std::string group = group_of(cgroups, hierarchy->version).value_or("/");
    if (mounted != "/" && group.starts_with(mounted)) group.erase(0, mounted.size());
    if (group != "/" && group.find("..") == group.npos) hierarchy->group = group;
    found.push_back(*hierarchy);
  }
  if (found.empty()) found = {{2, "sys/fs/cgroup", ""}, {1, "sys/fs/cgroup/cpu", ""}};
  return found;
}

// Returns a quota in processors, infinity where there is no limit, or no such file.
double processors_of(const std::string& quota, const std::string& period) {
  const double q = std::strtod(quota.c_str(), nullptr), p = std::strtod(period.c_str(), nullptr);
  return q > 0 && p > 0 ? q / p : std::numeric_limits<double>::infinity();
}

void take_quota(const std::string& root, const std::string& folder, int version, Cores& cores) {
  const std::string file = folder + (version == 2 ? "/cpu.max" : "/cpu.cfs_quota_us");
  const std::string text = content(root + "/" + file);
  const auto words = split(text, ' ');
  const double quota = version == 1        ? processors_of(text, content(root + "/" + folder + "/cpu.cfs_period_us"))
                       : words.size() == 2 ? processors_of(words[0], words[1])
                                           : std::numeric_limits<double>::infinity();
  if (quota < cores.quota) cores.quota = quota, cores.quota_file = file;
}

}  // namespace

int Cores::usable() const {
  return std::max(1, static_cast<int>(std::min(static_cast<double>(allowed), std::floor(quota))));
}

Cores read_cores(const std::string& root) {
  Cores cores;
  cores.allowed = allowed_by_mask(root);
  for (const Hierarchy& hierarchy : hierarchies(root))
    for (std::string group = hierarchy.group;; group.erase(group.rfind('/'))) {
      take_quota(root, hierarchy.mount + group, hierarchy.version, cores);
      if (group.find('/') == group.npos) break;
    }
  return cores;
}

const Cores& cores() {
  static const Cores of_this_process = [] {
    Cores cores = read_cores("");
    cpu_set_t mask;  // of this thread, which may have another mask than the process's first thread
    CPU_ZERO(&mask);
    if (sched_getaffinity(0, sizeof mask, &mask) == 0) cores.allowed = CPU_COUNT(&mask);
    if (cores.allowed == 0) cores.allowed = static_cast<int>(std::max(1L, sysconf(_SC_NPROCESSORS_ONLN)));
    return cores;
  }();
  return of_this_process;
}

}  // namespace rung
