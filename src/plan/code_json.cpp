// Packs and unpacks code, whose bytes stand in the JSON as Base64 of zlib data.
// SPDX-License-Identifier: Apache-2.0
#include "plan/code_json.hpp"

#include <elf.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "base/base64.hpp"
#include "base/hash.hpp"
#include "base/json.hpp"
#include "base/limits.hpp"
#include "base/whole.hpp"
#include "base/zlib_data.hpp"

namespace rung {
namespace {

using Json = nlohmann::json;

constexpr size_t kMostWordBytes = 200;  // of a name, an entry, an architecture and a compiler

std::string packed_text(std::string_view bytes) { return encode_base64(deflated(bytes)); }

Json image_to_json(const gpu::GeneratedCode& code) {
  return {{"target", code.target},
          {"compiler", code.compiler},
          {"hash", code.image->hash},
          {"bytes", code.image->bytes.size()},
          {"data", packed_text(code.image->bytes)}};
}

Json kernel_to_json(const gpu::GeneratedCode& code, size_t image) {
  return {{"name", code.name},
          {"image", image},
          {"entry", code.entry},
          {"bytes", code.source.size()},
          {"source", packed_text(code.source)}};
}

// The readers throw; code_from_json() turns their exceptions into a Status.

bool is_printable(char c) { return c >= ' ' && c <= '~'; }

// Reads a word that people are shown.
std::string word_from_json(const Json& json) {
  auto word = json.get<std::string>();
  if (word.empty() || word.size() > kMostWordBytes || !std::ranges::all_of(word, is_printable))
    throw std::out_of_range(
        fmt::format("a word of code has {} bytes, wanted 1 to {} printable ones", word.size(), kMostWordBytes));
  return word;
}

// A device's loader takes an image without its size, so an ELF file must lie within the bytes that there are.
void check_image(const std::string& image) {
  Elf64_Ehdr header{};
  if (image.size() < sizeof header)
    throw std::out_of_range(fmt::format("image of {} bytes, wanted at least {}", image.size(), sizeof header));
  std::memcpy(&header, image.data(), sizeof header);
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) return;
  const uint64_t table = uint64_t{header.e_shentsize} * header.e_shnum;
  if (header.e_shoff > image.size() || table > image.size() - header.e_shoff)
    throw std::out_of_range(fmt::format("image of {} bytes, wanted {} and {} more, as it says itself", image.size(),
                                        header.e_shoff, table));
}

class CodeReader {
 public:
  explicit CodeReader(const Json& json) {
    each(json.at("images"), "image", [this](const Json& entry) { images_.push_back(image(entry)); });
    std::vector<bool> used(images_.size());
    each(json.at("kernels"), "kernel", [&](const Json& entry) {
      const auto at = whole<size_t>(entry.at("image"));
      if (at >= images_.size()) throw std::out_of_range(fmt::format("image {} of {}", at, images_.size()));
      code.push_back(std::make_shared<const gpu::GeneratedCode>(kernel(entry, images_[at])));
      used[at] = true;
    });
    if (const auto unused = std::ranges::find(used, false); unused != used.end())
      throw std::out_of_range(fmt::format("no kernel lies in image {} of its code", unused - used.begin()));
  }
  std::vector<gpu::CodePointer> code;

 private:
  // Calls read() with each entry of a list; errors name the entry.
  template <class Read>
  static void each(const Json& list, const char* what, const Read& read) {
    if (!list.is_array()) throw std::out_of_range(fmt::format("got {}, wanted a list of {}s", describe(list), what));
    for (size_t i = 0; i < list.size(); ++i) {
      try {
        read(list[i]);
      } catch (const std::bad_alloc&) {
        throw;
      } catch (const std::exception& e) {
        throw std::out_of_range(fmt::format("{} {} of its code: {}", what, i, reason_of(e)));
      }
    }
  }

  // An image, and what all kernels in it have in common.
  gpu::GeneratedCode image(const Json& json) {
    gpu::GeneratedCode common{.target = word_from_json(json.at("target")),
                              .compiler = word_from_json(json.at("compiler"))};
    common.image = gpu::image_of(unpacked(json.at("data"), whole<uint64_t>(json.at("bytes")), kMaxCodeImageBytes));
    if (const auto wanted = json.at("hash").get<std::string>(); common.image->hash != wanted)
      throw std::out_of_range(fmt::format("got the hash {}, wanted {}", common.image->hash, valid_utf8(wanted)));
    check_image(common.image->bytes);
    return common;
  }

  gpu::GeneratedCode kernel(const Json& json, gpu::GeneratedCode common) {
    common.name = word_from_json(json.at("name"));
    common.entry = word_from_json(json.at("entry"));
    common.source = unpacked(json.at("source"), whole<uint64_t>(json.at("bytes")), kMaxCodeSourceBytes);
    if (!std::ranges::all_of(common.source, [](char c) { return is_printable(c) || c == '\n'; }))
      throw std::out_of_range("its source holds characters that cannot be printed");
    return common;
  }

  // Unpacks what must have exactly `bytes`, which are at most `most`.
  std::string unpacked(const Json& json, uint64_t bytes, size_t most) {
    most = std::min(most, left_);
    if (bytes > most) throw std::out_of_range(fmt::format("got {} bytes, wanted at most {}", bytes, most));
    left_ -= static_cast<size_t>(bytes);
    const std::string packed = value_or_throw(decode_base64(json.get_ref<const std::string&>(), "its bytes"));
    std::string text;
    if (!inflate_all(packed, static_cast<size_t>(bytes) + 1, text) || text.size() != bytes)
      throw std::out_of_range(fmt::format("damaged, or it does not unpack to {} bytes", bytes));
    return text;
  }

  size_t left_ = kMaxPlanCodeBytes;
  std::vector<gpu::GeneratedCode> images_;
};

std::vector<std::vector<std::string>> names_from_json(const Json& plans) {
  std::vector<std::vector<std::string>> named;
  for (const Json& plan : plans) {
    auto& steps = named.emplace_back();
    for (const Json& step : plan.at("steps"))
      steps.push_back(step.contains("code") ? step["code"].get<std::string>() : std::string());
  }
  return named;
}

// Checks that each launch's code is there, and each code is a launch's and the only one for its architecture.
void check_references(const CodeSection& section) {
  std::set<std::string> wanted, held;
  for (const auto& steps : section.named) wanted.insert(steps.begin(), steps.end());
  wanted.erase("");
  std::set<std::pair<std::string, std::string>> seen;
  for (const gpu::CodePointer& code : section.code) {
    const std::string source = source_name(code->source);
    if (!wanted.contains(source)) throw std::out_of_range(fmt::format("no launch runs the code '{}'", code->name));
    if (!seen.emplace(source, code->target).second)
      throw std::out_of_range(fmt::format("two codes for {} have the source of '{}'", code->target, code->name));
    held.insert(source);
  }
  for (const std::string& source : wanted)
    if (!held.contains(source))
      throw std::out_of_range(fmt::format("there is no code of the source '{}'", valid_utf8(source)));
}

}  // namespace

std::string source_name(std::string_view source) { return hex64(hash_text(source)); }

void add_code(const CodeSection& section, Json& set) {
  if (section.code.empty()) return;
  std::map<std::array<std::string, 3>, size_t> images;
  Json& json = set["code"] = {{"images", Json::array()}, {"kernels", Json::array()}};
  for (const gpu::CodePointer& code : section.code) {
    const auto [image, is_new] = images.try_emplace({code->image->hash, code->target, code->compiler}, images.size());
    if (is_new) json["images"].push_back(image_to_json(*code));
    json["kernels"].push_back(kernel_to_json(*code, image->second));
  }
  for (size_t p = 0; p < section.named.size(); ++p)
    for (size_t s = 0; s < section.named[p].size(); ++s)
      if (const std::string& named = section.named[p][s]; !named.empty()) set["plans"][p]["steps"][s]["code"] = named;
}

Result<CodeSection> code_from_json(const Json& set) {
  try {
    CodeSection section;
    if (set.contains("code")) section.code = CodeReader(set["code"]).code;
    section.named = names_from_json(set.at("plans"));
    check_references(section);
    return section;
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& e) {
    return fail("malformed plan: {}", reason_of(e));
  }
}

}  // namespace rung
