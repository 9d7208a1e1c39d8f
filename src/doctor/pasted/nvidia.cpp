// Reads nvidia-smi: the list that -q prints, and the table without it.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/trimmed.hpp"
#include "doctor/knob.hpp"
#include "doctor/nvidia_settings.hpp"
#include "doctor/pasted/text_form.hpp"

namespace rung::doctor::pasted {
namespace {

// Link speeds by PCIe generation, from the first on, in the words of the system's files.
constexpr std::array<std::string_view, 6> kLinkSpeeds{"2.5 GT/s PCIe",  "5.0 GT/s PCIe",  "8.0 GT/s PCIe",
                                                      "16.0 GT/s PCIe", "32.0 GT/s PCIe", "64.0 GT/s PCIe"};

void tell_link(const NvidiaGpu& gpu, const std::string& folder, Telling& telling) {
  for (const auto& [when, file] : {std::pair{"Current", "current"}, std::pair{"Max", "max"}}) {
    const auto generation = gpu.number(fmt::format("PCIe Generation/{}", when));
    if (generation && *generation >= 1 && *generation <= kLinkSpeeds.size())
      telling.set(fmt::format("{}{}_link_speed", folder, file),
                  std::string(kLinkSpeeds[static_cast<size_t>(*generation) - 1]));
    if (const auto lanes = gpu.number(fmt::format("Link Width/{}", when)))
      telling.set(fmt::format("{}{}_link_width", folder, file), fmt::format("{:.0f}", *lanes));
  }
}

// Adds the driver's list, and the system's own files as far as it tells them.
void tell(const NvidiaSettings& settings, Telling& telling) {
  const std::string path(kNvidiaSettings);
  telling.set(path, telling.told(path).value_or("") + written(settings));
  if (!settings.driver.empty()) telling.set("sys/module/nvidia/version", settings.driver);
  for (const NvidiaGpu& gpu : settings.gpus) {
    const std::string folder = telling.gpu(gpu.address, kNvidia);
    if (const auto chip = gpu.value("PCI/Device Id"))
      telling.set(folder + "device", fmt::format("0x{}", chip->substr(2, 4)));
    if (const auto product = gpu.value("Product Name"))
      telling.set(fmt::format("proc/driver/nvidia/gpus/{}/information", gpu.address), "Model: " + *product);
    tell_link(gpu, folder, telling);
  }
}

void read_query(std::span<const Line> lines, Telling& telling) {
  if (lines.empty()) return;
  telling.at(lines.front());
  std::string text;
  for (const Line& line : lines) text += line.text + "\n";
  tell(read_nvidia_settings(text), telling);
}

// ---- the table
// Returns the word after `words` in "| NVIDIA-SMI 550.54.15   Driver Version: 550.54.15   CUDA Version: 12.4 |".
std::string word_behind(std::string_view line, std::string_view words) {
  const size_t at = line.find(words);
  if (at == line.npos) return "";
  const auto found = words_of(line.substr(at + words.size()));
  return found.empty() ? "" : std::string(found.front());
}

// Returns the cells of "|   0  NVIDIA H100 80GB HBM3          On  |   00000000:17:00.0 Off |                    0 |".
std::vector<std::vector<std::string_view>> cells_of(std::string_view line) {
  std::vector<std::vector<std::string_view>> cells;
  for (const std::string_view cell : parts(line, '|'))
    if (!trimmed(cell).empty()) cells.push_back(words_of(cell));
  return cells;
}

std::string joined(std::span<const std::string_view> words) {
  std::string text;
  for (const std::string_view word : words) text += (text.empty() ? "" : " ") + std::string(word);
  return text;
}

// Reads the product's name, and "On" or "Off" after it, which says whether the driver stays loaded.
void read_name(const std::vector<std::string_view>& cell, std::string& text) {
  const bool on = cell.back() == "On", off = cell.back() == "Off";
  text +=
      fmt::format("    Product Name : {}\n", joined(std::span(cell).subspan(1, cell.size() - 1 - (on || off ? 1 : 0))));
  if (on || off) text += fmt::format("    Persistence Mode : {}\n", on ? "Enabled" : "Disabled");
}

// Reads the state and the limit of "N/A   34C    P0    70W / 700W".
void read_power(const std::vector<std::string_view>& cell, std::string& text) {
  for (const std::string_view word : cell)
    if (word.size() >= 2 && word[0] == 'P' && number_of(word.substr(1)))
      text += fmt::format("    Performance State : {}\n", word);
  if (cell.size() < 2 || !cell.back().ends_with('W') || cell[cell.size() - 2] != "/") return;
  if (const auto limit = number_of(cell.back().substr(0, cell.back().size() - 1)))
    text += fmt::format("    GPU Power Readings\n        Current Power Limit : {}.00 W\n", *limit);
}

// A row of a GPU has three lines: name and address, power and mode, MIG.
class Table {
 public:
  void line(std::string_view line) {
    if (line.find("Driver Version:") != line.npos) {
      text_ += fmt::format("Driver Version : {}\nCUDA Version : {}\n", word_behind(line, "Driver Version:"),
                           word_behind(line, "CUDA Version:"));
      return;
    }
    if (line.find("Processes:") != line.npos) is_over_ = true;
    const auto cells = cells_of(line);
    if (is_over_ || cells.size() != 3) return;
    const std::string address = pci_address(cells[1].front());
    if (!address.empty() && cells[0].size() >= 3 && number_of(cells[0].front())) {
      text_ += fmt::format("GPU 0000{}\n", address);
      read_name(cells[0], text_);
      row_ = 1;
    } else if (row_ == 1) {
      read_power(cells[0], text_);
      row_ = 2;
    } else if (row_ == 2) {
      row_ = 0;
    }
    if (row_ == 2 && cells[2].back() == "Default") text_ += "    Compute Mode : Default\n";
  }
  // The last line of a row has one full cell: "|  |  | Disabled |".
  void mode(std::string_view line) {
    const auto cells = cells_of(line);
    if (is_over_ || row_ != 2 || cells.size() != 1 || cells[0].size() != 1) return;
    text_ += fmt::format("    MIG Mode\n        Current : {}\n", cells[0].front());
    row_ = 0;
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
  int row_ = 0;
  bool is_over_ = false;
};

void read_table(std::span<const Line> lines, Telling& telling) {
  if (lines.empty() || telling.told(std::string(kNvidiaSettings))) return;  // the list has told more
  telling.at(lines.front());
  Table table;
  for (const Line& line : lines) {
    if (!trimmed(line.text).starts_with('|')) continue;
    table.line(line.text);
    table.mode(line.text);
  }
  tell(read_nvidia_settings(table.text()), telling);
}

}  // namespace

const TextForm nvidia_query_form{
    "nvidia-smi -q", [](std::string_view line) { return line.find("NVSMI LOG") != line.npos && line.starts_with("="); },
    read_query};
const TextForm nvidia_table_form{"nvidia-smi", [](std::string_view line) { return line.starts_with("| NVIDIA-SMI "); },
                                 read_table};

}  // namespace rung::doctor::pasted
