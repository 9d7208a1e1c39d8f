// Writes results and errors to the standard streams.
// SPDX-License-Identifier: Apache-2.0
#include "cli/output.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <nlohmann/json.hpp>

#include "base/json.hpp"
#include "base/tool.hpp"
#include "report/load_lines.hpp"

namespace rung::cli {
namespace {

using Json = nlohmann::json;

std::atomic<bool> g_printed_object{false};
bool g_found_unclear = false;

std::string one_line(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

}  // namespace

void print_json(const Json& object) {
  g_printed_object = true;
  std::fputs((dump_json(object) + "\n").c_str(), stdout);
}

void print_disturbance(const Disturbance& disturbance) {
  if (const std::string line = report::disturbance_line(disturbance); !line.empty()) fmt::print("{}\n", line);
}

bool printed_object() { return g_printed_object; }

void found_unclear() { g_found_unclear = true; }

int report(const Status& status, bool json) {
  if (status) return 0;
  const Error& error = status.error();
  const std::string message = one_line(error.message);
  std::fputs((std::string(kErrorPrefix) + message + "\n").c_str(), stderr);
  if (json && !g_printed_object) print_json({{"error", {{"message", message}, {"kind", name_of(error.kind)}}}});
  if (error.kind == ErrorKind::usage) return 2;
  return g_found_unclear ? kUnclear : 1;
}

Status flushed() {
  if (std::fflush(stdout) == 0 && !std::ferror(stdout)) return {};
  return fail("cannot write to standard output: {}", std::strerror(errno));
}

bool asks_for_json(int argc, char** argv) {
  return std::any_of(argv + std::min(argc, 1), argv + argc, [](std::string_view word) { return word == "--json"; });
}

}  // namespace rung::cli
