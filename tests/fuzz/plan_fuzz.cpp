// Any bytes as a plan file, and any JSON as a plan's launches (which in a file the checksum would shield).
// SPDX-License-Identifier: Apache-2.0
#include <sys/mman.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "base/json.hpp"
#include "plan/check.hpp"
#include "plan/file.hpp"
#include "plan/plan_json.hpp"
#include "seeds.hpp"

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  rung::write_seeds(*argc, *argv, {rung::plan_to_json(rung::Plan{}).dump()});
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace rung;
  std::string_view text(reinterpret_cast<const char*>(data), size);
  if (text.starts_with('{')) {
    auto json = parse_json(text, "fuzz");
    if (!json) return 0;
    auto plan = plan_from_json(*json);
    if (plan) (void)check_plan(*plan);
    return 0;
  }
  static const int file = memfd_create("plan", 0);
  require(ftruncate(file, 0) == 0 && pwrite(file, data, size, 0) == static_cast<ssize_t>(size), "a file to load");
  (void)load_plan("/proc/self/fd/" + std::to_string(file));
  return 0;
}
