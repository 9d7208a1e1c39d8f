// Reads a tree by indentation: a line without a value is the section of the deeper lines after it.
// SPDX-License-Identifier: Apache-2.0
#include "doctor/nvidia_settings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>

#include "base/trimmed.hpp"
#include "doctor/kept_words.hpp"
#include "doctor/knob.hpp"

namespace rung::doctor {
namespace {

enum class ValueForm : uint8_t { word, megahertz, watts, count, lanes, product, chip };

struct Field {
  std::string_view name;
  ValueForm form;
};

// The known settings. Sections that older drivers name differently stand under their present name.
constexpr Field kFields[] = {
    {"Product Name", ValueForm::product},
    {"Persistence Mode", ValueForm::word},
    {"Performance State", ValueForm::word},
    {"Compute Mode", ValueForm::word},
    {"MIG Mode/Current", ValueForm::word},
    {"ECC Mode/Current", ValueForm::word},
    {"ECC Mode/Pending", ValueForm::word},
    {"PCI/Device Id", ValueForm::chip},
    {"PCIe Generation/Max", ValueForm::count},
    {"PCIe Generation/Current", ValueForm::count},
    {"Link Width/Max", ValueForm::lanes},
    {"Link Width/Current", ValueForm::lanes},
    {"Clocks Event Reasons/Idle", ValueForm::word},
    {"Clocks Event Reasons/Applications Clocks Setting", ValueForm::word},
    {"Clocks Event Reasons/SW Power Cap", ValueForm::word},
    {"Clocks Event Reasons/HW Slowdown", ValueForm::word},
    {"Clocks Event Reasons/HW Thermal Slowdown", ValueForm::word},
    {"Clocks Event Reasons/HW Power Brake Slowdown", ValueForm::word},
    {"Clocks Event Reasons/Sync Boost", ValueForm::word},
    {"Clocks Event Reasons/SW Thermal Slowdown", ValueForm::word},
    {"GPU Power Readings/Current Power Limit", ValueForm::watts},
    {"GPU Power Readings/Default Power Limit", ValueForm::watts},
    {"GPU Power Readings/Max Power Limit", ValueForm::watts},
    {"Clocks/SM", ValueForm::megahertz},
    {"Clocks/Memory", ValueForm::megahertz},
    {"Applications Clocks/Graphics", ValueForm::megahertz},
    {"Applications Clocks/Memory", ValueForm::megahertz},
    {"Default Applications Clocks/Graphics", ValueForm::megahertz},
    {"Default Applications Clocks/Memory", ValueForm::megahertz},
    {"Max Clocks/SM", ValueForm::megahertz},
    {"Max Clocks/Memory", ValueForm::megahertz},
};

constexpr std::pair<std::string_view, std::string_view> kOldNames[] = {
    {"Clocks Throttle Reasons", "Clocks Event Reasons"},
    {"Power Readings", "GPU Power Readings"},
    {"Power Limit", "Current Power Limit"},
};

constexpr std::string_view kWords[] = {"Enabled", "Disabled", "Active", "Not Active", "Default", "Exclusive_Process",
                                       "N/A",     "Yes",      "No",     "Prohibited", "On",      "Off",
                                       "P0",      "P1",       "P2",     "P3",         "P4",      "P5",
                                       "P6",      "P7",       "P8",     "P10",        "P12",     "P15"};

bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

// Returns whether a value is a measure such as "1980 MHz", "16x": at most eight digits and dots, and the unit.
bool is_measure(std::string_view value, std::string_view unit) {
  const size_t digits = std::min(value.find_first_not_of("0123456789."), value.size());
  return digits > 0 && digits <= 8 && is_digit(value[0]) && std::ranges::count(value.substr(0, digits), '.') <= 1 &&
         value.substr(digits) == unit;
}

// Returns whether a value is a chip such as "0x233010DE": the device's number, and the vendor's.
bool is_chip(std::string_view value) {
  return value.size() == 10 && value.starts_with("0x") &&
         std::ranges::all_of(value.substr(2), [](unsigned char c) { return std::isxdigit(c) != 0; });
}

bool fits(ValueForm form, std::string_view value) {
  switch (form) {
    case ValueForm::word:
      return std::ranges::find(kWords, value) != std::end(kWords);
    case ValueForm::megahertz:
      return is_measure(value, " MHz");
    case ValueForm::watts:
      return is_measure(value, " W");
    case ValueForm::count:
      return is_measure(value, "");
    case ValueForm::lanes:
      return is_measure(value, "x");
    case ValueForm::chip:
      return is_chip(value);
    case ValueForm::product:
      return !value.empty() && value.size() < 64;
  }
  return false;
}

std::string_view present_name(std::string_view name) {
  const auto* old = std::ranges::find(kOldNames, name, &std::pair<std::string_view, std::string_view>::first);
  return old == std::end(kOldNames) ? name : old->second;
}

std::string version(std::string_view text) {
  const bool is_one = !text.empty() && text.size() < 16 && std::ranges::count(text, '.') <= 2 &&
                      std::ranges::all_of(text, [](char c) { return is_digit(c) || c == '.'; });
  return is_one ? std::string(text) : "";
}

// Reads the lines of the GPUs.
class SettingsReader {
 public:
  explicit SettingsReader(NvidiaSettings& settings) : settings_(settings) {}

  void line(std::string_view text) {
    const std::string_view content = trimmed(text);
    if (content.empty()) return;
    const size_t indent = text.find_first_not_of(" \t");
    if (indent == 0 && content.starts_with("GPU ")) return begin(content.substr(4));
    const size_t colon = content.find(':');
    const std::string_view name = trimmed(content.substr(0, colon));
    const std::string_view value = colon == content.npos ? "" : trimmed(content.substr(colon + 1));
    while (!sections_.empty() && sections_.back().indent >= indent) sections_.pop_back();
    if (colon == content.npos)
      sections_.push_back({indent, std::string(name)});
    else
      set(name, value);
  }

 private:
  struct Section {
    size_t indent;
    std::string name;
  };

  void begin(std::string_view text) {
    sections_.clear();
    in_gpu_ = false;
    std::string address = pci_address(text);
    if (address.empty()) return;
    in_gpu_ = true;
    settings_.gpus.push_back({std::move(address), {}});
  }
  void set(std::string_view name, std::string_view value) {
    if (sections_.empty() && name == "Driver Version") settings_.driver = version(value);
    if (sections_.empty() && name == "CUDA Version") settings_.cuda = version(value);
    if (!in_gpu_) return;
    std::string full(present_name(name));
    if (!sections_.empty()) full = fmt::format("{}/{}", present_name(sections_.back().name), full);
    const auto* field = std::ranges::find(kFields, full, &Field::name);
    if (field == std::end(kFields)) return;
    const std::string kept =
        field->form == ValueForm::product ? kept_words(value, Vocabulary::products) : std::string(value);
    if (fits(field->form, value) && fits(field->form, kept)) settings_.gpus.back().values.insert_or_assign(full, kept);
  }

  NvidiaSettings& settings_;
  std::vector<Section> sections_;
  bool in_gpu_ = false;
};

}  // namespace

std::optional<std::string> NvidiaGpu::value(std::string_view name) const {
  const auto found = values.find(name);
  return found == values.end() ? std::nullopt : std::optional(found->second);
}

std::optional<double> NvidiaGpu::number(std::string_view name) const {
  const auto text = value(name);
  double found = 0;
  if (!text || std::from_chars(text->data(), text->data() + text->size(), found).ec != std::errc{}) return std::nullopt;
  return found;
}

std::string pci_address(std::string_view text) {
  const size_t first = text.find(':');
  if (first == text.npos || first < 4 || first > 8 || text.size() - first != 8) return "";
  std::string address(text.substr(first - 4));
  for (size_t i = 0; i < address.size(); ++i) {
    const bool right = i == 4 || i == 7 ? address[i] == ':'
                       : i == 10        ? address[i] == '.'
                                        : std::isxdigit(static_cast<unsigned char>(address[i])) != 0;
    if (!right) return "";
    address[i] = static_cast<char>(std::tolower(static_cast<unsigned char>(address[i])));
  }
  return address;
}

NvidiaSettings read_nvidia_settings(std::string_view text) {
  NvidiaSettings settings;
  SettingsReader reader(settings);
  for (const std::string_view line : parts(text, '\n')) reader.line(line);
  return settings;
}

std::string written(const NvidiaSettings& settings) {
  std::string text;
  if (!settings.driver.empty()) text += fmt::format("Driver Version : {}\n", settings.driver);
  if (!settings.cuda.empty()) text += fmt::format("CUDA Version : {}\n", settings.cuda);
  for (const NvidiaGpu& gpu : settings.gpus) {
    text += fmt::format("GPU 0000{}\n", gpu.address);
    std::string_view section;
    for (const auto& [name, value] : gpu.values) {
      const size_t slash = name.find('/');
      const std::string_view full = name;
      const bool is_in_section = slash != name.npos;
      const std::string_view own = is_in_section ? full.substr(0, slash) : std::string_view{};
      if (is_in_section && own != section) text += fmt::format("    {}\n", own);
      section = own;
      text += fmt::format("{}{} : {}\n", is_in_section ? "        " : "    ",
                          is_in_section ? full.substr(slash + 1) : full, value);
    }
  }
  return text;
}

}  // namespace rung::doctor
