// A kernel's file is the hash of all that follows, then a line each for the target, the compiler, the entry and the
// image, then the source. The source is kept because a hash alone does not prove whose code it is.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/generated/gpu/code_cache.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <mutex>

#include "base/atomic_file.hpp"
#include "base/hash.hpp"
#include "base/log.hpp"
#include "base/user_cache.hpp"

namespace rung::gpu {
namespace {

constexpr size_t kDigits = 16;  // of hex64()

std::string path_of(std::string_view name) { return fmt::format("{}/generated/{}", user_cache_folder(), name); }
std::string path_of_image(std::string_view hash) { return path_of(fmt::format("image_{}", hash)); }

// Takes a line off the text, without its end.
std::string take_line(std::string_view& text) {
  const size_t end = std::min(text.find('\n'), text.size());
  std::string line(text.substr(0, end));
  text.remove_prefix(std::min(end + 1, text.size()));
  return line;
}

ImagePointer read_image(const std::string& hash) {
  static std::mutex mutex;
  static std::map<std::string, std::weak_ptr<const CodeImage>> read;  // by path
  const std::string path = path_of_image(hash);
  const std::lock_guard lock(mutex);
  if (auto known = read[path].lock()) return known;
  auto bytes = read_text_file(path);
  if (!bytes) return nullptr;
  ImagePointer image = image_of(std::move(*bytes));
  if (image->hash != hash) return nullptr;
  read[path] = image;
  return image;
}

void keep(const std::string& path, std::string_view content) {
  std::error_code ignored;
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), ignored);
  if (const auto written = write_file_atomically(path, content); !written) log(2, "{}", written.error().message);
}

}  // namespace

std::optional<GeneratedCode> read_kept_code(const std::string& name) {
  const auto file = read_text_file(path_of(name));
  if (!file || file->size() <= kDigits) return std::nullopt;
  std::string_view text = std::string_view(*file).substr(kDigits);
  if (hex64(hash_text(text)) != file->substr(0, kDigits)) return std::nullopt;
  GeneratedCode code{.name = name};
  code.target = take_line(text);
  code.compiler = take_line(text);
  code.entry = take_line(text);
  code.image = read_image(take_line(text));
  code.source = text;
  return code.image ? std::optional(std::move(code)) : std::nullopt;
}

void keep_image(const CodeImage& image) { keep(path_of_image(image.hash), image.bytes); }

void keep_code(const GeneratedCode& code) {
  const std::string text =
      fmt::format("{}\n{}\n{}\n{}\n{}", code.target, code.compiler, code.entry, code.image->hash, code.source);
  keep(path_of(code.name), hex64(hash_text(text)) + text);
}

}  // namespace rung::gpu
