// Reads collect_env of PyTorch, and vLLM's, which adds to it: versions, the GPUs' names, and the output of lscpu.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "base/trimmed.hpp"
#include "doctor/pasted/text_form.hpp"
#include "doctor/told_versions.hpp"

namespace rung::doctor::pasted {
namespace {

// Returns the first word, if it is a version of digits and dots.
std::string version_at(std::string_view value) {
  const std::string_view word = value.substr(0, value.find_first_of(" -+"));
  const bool is_one = !word.empty() && word.size() < 16 && std::isdigit(static_cast<unsigned char>(word[0])) != 0 &&
                      word.find_first_not_of("0123456789.") == word.npos;
  return is_one ? std::string(word) : "";
}

void set_version(Telling& telling, std::string_view path, std::string_view value, std::string_view after = "") {
  if (const std::string version = version_at(value); !version.empty())
    telling.set(fmt::format("{}{}", path, after.empty() ? "" : version),
                after.empty() ? version : fmt::format("{}", after));
}

// Reads "Linux-6.8.0-45-generic-x86_64-with-glibc2.35".
void read_platform(std::string_view value, Telling& telling) {
  constexpr std::string_view kSystem = "Linux-";
  if (!value.starts_with(kSystem)) return;
  value.remove_prefix(kSystem.size());
  const size_t end = std::min({value.find("-x86_64"), value.find("-aarch64"), value.find("-with-"), value.size()});
  telling.set("proc/sys/kernel/osrelease", std::string(value.substr(0, end)));
}

// Reads "NUMA node0 CPU(s):  0-47,96-143"; the nodes' numbers begin with 0.
void read_numa_node(std::string_view line, Telling& telling) {
  constexpr std::string_view kNode = "NUMA node";
  line = trimmed(line);
  if (!line.starts_with(kNode)) return;
  const size_t end = line.find(" CPU(s):");
  if (const auto nodes = value_behind(line, "NUMA node(s)"); nodes && number_of(*nodes).value_or(0) > 0)
    telling.set("sys/devices/system/node/online", *nodes == "1" ? "0" : fmt::format("0-{}", *number_of(*nodes) - 1));
  if (end == line.npos) return;
  if (const auto number = number_of(line.substr(kNode.size(), end - kNode.size())))
    telling.set(fmt::format("sys/devices/system/node/node{}/cpulist", *number),
                std::string(trimmed(line.substr(end + 8))));
}

// Reads "/usr/lib/x86_64-linux-gnu/libcudnn.so.9.1.0", in a list or after the name; else a version alone.
void read_cudnn(std::string_view line, Telling& telling) {
  constexpr std::string_view kName = "libcudnn.so.";
  if (const size_t at = line.find(kName); at != line.npos)
    set_version(telling, "usr/lib/x86_64-linux-gnu/libcudnn.so.", line.substr(at + kName.size()), "there");
  if (const auto value = value_behind(line, "cuDNN version"))
    set_version(telling, "usr/lib/x86_64-linux-gnu/libcudnn.so.", *value, "there");
}

void read_collected_line(std::string_view line, Telling& telling) {
  if (const auto value = value_behind(line, "Nvidia driver version"))
    set_version(telling, "sys/module/nvidia/version", *value);
  if (const auto value = value_behind(line, "HIP runtime version"))
    set_version(telling, "opt/rocm/lib/libamdhip64.so.", *value, "there");
  if (const auto value = value_behind(line, "MIOpen runtime version"))
    set_version(telling, "opt/rocm/lib/libMIOpen.so.", *value, "there");
  if (const auto value = value_behind(line, "ROCM Version")) set_version(telling, "opt/rocm/.info/version", *value);
  if (const auto value = value_behind(line, "CUDA runtime version"); value && !version_at(*value).empty())
    telling.set("usr/local/cuda/version.json", fmt::format("\"version\" : \"{}\"", version_at(*value)));
  if (const auto value = value_behind(line, "Python platform")) read_platform(*value, telling);
  if (const auto value = value_behind(line, "Model name"))
    telling.set("proc/cpuinfo", fmt::format("model name\t: {}", *value));
  read_numa_node(line, telling);
  read_cudnn(line, telling);
}

void read_collected(std::span<const Line> lines, Telling& telling) {
  std::string text;
  if (!lines.empty()) telling.at(lines.front());
  for (const Line& line : lines) {
    constexpr std::string_view kGpus = "GPU models and configuration:";
    const std::string_view own = trimmed(line.text);
    // The first GPU stands after the name of the list.
    text += std::string(own.starts_with(kGpus) ? trimmed(own.substr(kGpus.size())) : own) + "\n";
  }
  if (std::string versions = written_versions(text); !versions.empty())
    telling.set(std::string(kVersions), std::move(versions));
  for (const Line& line : lines) {
    telling.at(line);
    read_collected_line(line.text, telling);
  }
}

}  // namespace

const TextForm collect_env_form{"collect_env",
                                [](std::string_view line) {
                                  return line.starts_with("Collecting environment information") ||
                                         line.starts_with("PyTorch version:");
                                },
                                read_collected};

}  // namespace rung::doctor::pasted
