// Any text as what somebody pasted of a machine: refused, or a machine that every check goes through and whose capture
// is the same again.
// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "doctor/diagnosis.hpp"
#include "doctor/nvidia_settings.hpp"
#include "doctor/pasted/pasted.hpp"
#include "doctor/pasted/pasted_samples.hpp"
#include "doctor/told_versions.hpp"
#include "seeds.hpp"

using namespace rung;
using namespace rung::doctor;

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  std::vector<std::string> seeds;
  for (const std::string_view text :
       {kNvidiaQuery, kNvidiaTable, kRocmSmi, kRocmSmiAll, kRocminfo, kCollectEnv, kCollectEnvNvidia, kEnv})
    seeds.emplace_back(text);
  seeds.push_back(seeds[5] + seeds[4] + seeds[2] + seeds[1] + seeds[0] + seeds[7]);
  write_seeds(*argc, *argv, seeds);
  return 0;
}

namespace {

// What is kept of a file is kept again as it is: a captured folder gives what the text gave.
void hold(const Snapshot& machine) {
  for (const CapturedFile& file : captured_files())
    for (const std::string& path : machine.matches(file.pattern)) {
      const std::string kept = *machine.read(path);
      const Snapshot again(ToldMachine{{{path, {kept, "again"}}}, {}});
      require(again.read(path).value_or("") == kept, "what is kept is kept again");
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::string once = written(read_nvidia_settings(text));
  require(written(read_nvidia_settings(once)) == once, "settings are written as they are read");
  require(written_versions(written_versions(text)) == written_versions(text), "and versions");
  const auto pasted = read_pasted("paste.txt", text);
  if (!pasted) return 0;
  require(!pasted->forms.empty(), "it is of some form");
  const Diagnosis diagnosis = diagnose(pasted->machine);
  require(!to_json(diagnosis).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace).empty(),
          "all of it is text");
  hold(pasted->machine);
  return 0;
}
