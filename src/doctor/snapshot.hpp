// The files of a machine that the checks read: of the real one, or of a captured folder of the same form.
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
  name,          // that the file is there: libraries, whose names tell their versions
  topology,      // of a GPU's properties what says its architecture and units; they have a serial number, too
  gpu_model,     // the line of the GPU's model; others have its UUID
  cuda_version,  // the line of CUDA's version
  acs_control,   // of a PCI device's configuration: "acs_control 0x001d", where its owner may read that
  nvidia,        // of `nvidia-smi -q` the settings that nvidia_settings.hpp knows
  versions,      // of PyTorch's collect_env its versions and names of GPUs
};

struct CapturedFile {
  std::string_view pattern;  // without a leading '/'; '*' stands for a whole name, or for the rest of one
  Keep keep;
};
std::span<const CapturedFile> captured_files();

// A file that a text tells of, and where in it.
struct ToldFile {
  std::string content, place;  // "rocm-smi, line 14"
};
struct ToldMachine {
  std::map<std::string, ToldFile, std::less<>> files;  // by path, without a leading '/'
  std::optional<Environment> environment;              // none: not told
};

class Snapshot {
 public:
  // "/" is this machine with this process's environment. Errors: no such folder.
  static Result<Snapshot> open(const std::string& root);
  // A machine of which a text tells: this one is not looked at.
  explicit Snapshot(ToldMachine told);

  // Without blanks around it; nothing if it is missing, unreadable, or not among captured_files().
  std::optional<std::string> read(std::string_view path) const;
  std::vector<std::string> list(std::string_view folder) const;  // names, sorted; empty if there is none
  // Paths of files that match a pattern of captured_files().
  std::vector<std::string> matches(std::string_view pattern) const;
  const Environment& environment() const { return environment_; }
  bool tells_environment() const { return !told_ || told_->environment.has_value(); }
  // The place in a text that tells of a file, "rocm-smi, line 14 (0000:c1:00.0/class)"; a real file's path.
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
  mutable std::optional<std::string> nvidia_;  // what nvidia-smi said of this machine, asked once
};

struct Captured {
  size_t files = 0, variables = 0, values_left_out = 0;
};
// Writes what the checks read into an empty or new folder. Left out: host, user and network names and addresses.
Result<Captured> capture(const Snapshot& machine, const std::string& folder);

}  // namespace rung::doctor
