// The files of a machine that the checks read: of the real machine, or of a captured folder laid out like it.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.hpp"
#include "doctor/environment.hpp"

namespace rung::doctor {

// The part of a file that is kept, on a real machine too, so that a captured folder gives the same findings.
enum class Keep : uint8_t {
  all,
  boot_options,  // the words of the kernel's command line that the checks know
  memory_disk,   // the line of /dev/shm
  allowed,       // the lines of allowed processors and memory
  model_name,    // the first line of the processor's name
  name,          // whether the file exists: libraries, whose names tell their versions
  topology,      // a GPU's architecture and units; its other properties have a serial number, too
  gpu_model,     // the line of the GPU's model; others have its UUID
  cuda_version,  // the line of CUDA's version
  acs_control,   // a PCI device's configuration as "acs_control 0x001d", where its owner may read that
  nvidia,        // the settings of `nvidia-smi -q` that nvidia_settings.hpp knows
  versions,      // versions and names of GPUs in PyTorch's collect_env
};

struct CapturedFile {
  std::string_view pattern;  // without a leading '/'; '*' stands for a whole name, or for the rest of one
  Keep keep;
};
std::span<const CapturedFile> captured_files();

// A file that a text tells of, and the place in that text.
struct ToldFile {
  std::string content, place;  // "rocm-smi, line 14"
};
struct ToldMachine {
  std::map<std::string, ToldFile, std::less<>> files;  // by path, without a leading '/'
  std::optional<Environment> environment;              // none: not told
};

class Snapshot {
 public:
  // Opens a folder; "/" is this machine with this process's environment. Errors: no such folder.
  static Result<Snapshot> open(const std::string& root);
  // Makes a machine that a text tells of: this one is not looked at.
  explicit Snapshot(ToldMachine told);

  // Returns a file's content without blanks around it; nothing if missing, unreadable, or not among captured_files().
  std::optional<std::string> read(std::string_view path) const;
  std::vector<std::string> list(std::string_view folder) const;  // names, sorted; empty if there is none
  // Returns paths of files that match a pattern of captured_files().
  std::vector<std::string> matches(std::string_view pattern) const;
  const Environment& environment() const { return environment_; }
  // Returns whether nothing that checks read is there.
  bool is_empty() const;
  bool tells_environment() const { return !told_ || told_->environment.has_value(); }
  // Returns the place in a text that tells of a file, "rocm-smi, line 14 (0000:c1:00.0/class)"; a real file's path.
  std::string place_of(const std::string& path) const;

 private:
  Snapshot() = default;
  bool has(std::string_view path) const;
  std::string text_of(std::string_view path) const;
  const std::string& nvidia_settings() const;

  std::string root_;
  bool is_this_machine_ = false;
  Environment environment_;
  std::optional<ToldMachine> told_;
  mutable std::optional<std::string> nvidia_;  // output of nvidia-smi on this machine, asked once
};

struct Captured {
  size_t files = 0, variables = 0, values_left_out = 0;
};
// Writes what the checks read to an empty or new folder, without host, user and network names and addresses.
Result<Captured> capture(const Snapshot& machine, const std::string& folder);

}  // namespace rung::doctor
