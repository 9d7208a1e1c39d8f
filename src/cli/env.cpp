// rung env: lists the settings worth trying for latency, for a stack on a GPU.
// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "cli/command.hpp"
#include "cli/output.hpp"
#include "doctor/settings/written.hpp"

namespace rung::cli {
namespace {

struct EnvFlags {
  std::string stack, gpu, goal = "latency", format = "text";
  bool json = false;
};

std::string gpu_words() {
  std::string words;
  for (const doctor::SettingGpu& gpu : doctor::setting_gpus())
    words += fmt::format("{}{}", words.empty() ? "" : ", ", gpu.word);
  return words;
}

Status run_env(const EnvFlags& flags) {
  const doctor::SettingGpu* gpu = doctor::setting_gpu(flags.gpu);
  if (!gpu) return wrong_usage("--gpu: got '{}', wanted one of {}", flags.gpu, gpu_words());
  doctor::SettingList list;
  const auto word = std::ranges::find(doctor::kFrameworkWords, flags.stack);
  list.framework = static_cast<doctor::Framework>(word - doctor::kFrameworkWords.begin());
  list.gpu = gpu->word;
  list.gpu_name = gpu->name;
  list.settings = doctor::settings_for(list.framework, gpu->generation);
  if (flags.json)
    print_json(to_json(list));
  else if (flags.format == "shell")
    fmt::print("{}", settings_shell(list));
  else if (flags.format == "dockerfile")
    fmt::print("{}", settings_dockerfile(list));
  else
    fmt::print("{}", settings_text(list));
  return {};
}

}  // namespace

std::pair<CLI::App*, Run> env_command(CLI::App& app) {
  auto flags = std::make_shared<EnvFlags>();
  auto* command =
      add_command(app, "env", "list the settings worth trying for a stack on a GPU, and how to measure them");
  add(*command, "stack", flags->stack)
      .one_of({doctor::kFrameworkWords.begin(), doctor::kFrameworkWords.end()})
      .required();
  add(*command, "gpu", flags->gpu).described("the GPU to set up: " + gpu_words()).required();
  add(*command, "goal", flags->goal).one_of({"latency"}).shows_default();
  const Option json = add(*command, "json", flags->json);
  add(*command, "format", flags->format)
      .described("how to write the settings: text, shell or dockerfile")
      .one_of({"text", "shell", "dockerfile"})
      .shows_default()
      .excludes(json);
  return {command, [flags] { return run_env(*flags); }};
}

}  // namespace rung::cli
