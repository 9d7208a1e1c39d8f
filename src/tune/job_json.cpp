// Writes tuning jobs as JSON and reads them.
// SPDX-License-Identifier: Apache-2.0
#include "tune/job_json.hpp"

#include <nlohmann/json.hpp>

#include "base/json.hpp"
#include "ir/text.hpp"
#include "kernels/choice_json.hpp"
#include "kernels/operand_json.hpp"

namespace rung {
namespace {

using Json = nlohmann::json;

Json problem_to_json(const Problem& problem) {
  Json inputs = Json::array();
  for (const auto& input : problem.inputs) inputs.push_back(operand_to_json(input));
  return {{"op", print_op(problem.op)},
          {"inputs", std::move(inputs)},
          {"output", operand_to_json(problem.output)},
          {"threads", problem.threads}};
}

Problem problem_from_json(const Json& json) {
  Problem problem{.op = value_or_throw(parse_op(json.at("op").get<std::string>())),
                  .inputs = {},
                  .output = operand_from_json(json.at("output")),
                  .threads = json.at("threads").get<int>()};
  for (const Json& input : json.at("inputs")) problem.inputs.push_back(operand_from_json(input));
  return problem;
}

KernelCandidate candidate_from_json(const Json& json, const Target& target) {
  auto [name, params] = value_or_throw(choice_from_json(json));
  const Kernel* kernel = target.kernel_named(name);
  if (!kernel) throw std::out_of_range("there is no kernel " + name);
  return {kernel, std::move(params)};
}

DeviceWord device_of(const Json& json) {
  return value_or_throw(parse_device(json.at("device").get_ref<const std::string&>()));
}

// `read` may throw the JSON library's exceptions.
template <class Read>
auto read_line(const std::string& line, const Read& read) -> Result<decltype(read(Json()))> {
  try {
    return read(Json::parse(line));
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& e) {
    return fail("tuning job: {}", reason_of(e));
  }
}

}  // namespace

std::string job_to_line(const TrialJob& job) {
  Json candidates = Json::array();
  for (const auto& candidate : job.candidates) candidates.push_back(to_json(candidate.choice()));
  return dump_json(Json{{"device", job.device.word},
                        {"problem", problem_to_json(job.problem)},
                        {"candidates", std::move(candidates)},
                        {"indices", job.indices},
                        {"yardstick", job.yardstick},
                        {"working_set_bytes", job.working_set_bytes},
                        {"seconds_each", job.seconds_each}});
}

Result<DeviceWord> device_of_line(const std::string& line) { return read_line(line, device_of); }

Result<TrialJob> job_from_line(const std::string& line, const Target& target) {
  return read_line(line, [&](const Json& json) {
    TrialJob job{.device = device_of(json),
                 .problem = problem_from_json(json.at("problem")),
                 .candidates = {},
                 .indices = json.at("indices").get<std::vector<int>>(),
                 .yardstick = json.at("yardstick").get<int>(),
                 .working_set_bytes = json.at("working_set_bytes").get<size_t>(),
                 .seconds_each = json.at("seconds_each").get<double>()};
    for (const Json& candidate : json.at("candidates"))
      job.candidates.push_back(candidate_from_json(candidate, target));
    for (int index : job.indices) (void)job.candidates.at(static_cast<size_t>(index));
    (void)job.candidates.at(static_cast<size_t>(job.yardstick));
    return job;
  });
}

}  // namespace rung
