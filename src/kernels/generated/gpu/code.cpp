// Finds code in the process, then in the user's cache, and else compiles it.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/generated/gpu/code.hpp"

#include <filesystem>
#include <map>
#include <mutex>

#include "base/atomic_file.hpp"
#include "base/hash.hpp"
#include "base/log.hpp"
#include "base/user_cache.hpp"
#include "device/gpu/compilers/compiler.hpp"
#include "device/gpu/modules.hpp"

namespace rung::gpu {
namespace {

constexpr size_t kDigits = 16;  // of hex64()

Result<std::string> name_of(const GeneratedSource& source, const GpuInfo& gpu, const Compiler& compiler) {
  RUNG_TRY(const std::string version, compiler.version());
  uint64_t hash = hash_text(source.text, hash_text(version));
  for (const SourceHeader& header : generated_headers()) hash = hash_text(header.text, hash);
  return fmt::format("generated_{}_{}", architecture_name(gpu.architecture), hex64(hash));
}

std::string path_of(const std::string& name) { return user_cache_folder() + "/generated/" + name; }

// A file is the hash of the code, then the code: one that was cut short or changed is compiled again.
std::string kept_code(const std::string& name) {
  const auto file = read_text_file(path_of(name));
  if (!file || file->size() <= kDigits) return {};
  std::string image = file->substr(kDigits);
  return hex64(hash_text(image)) == file->substr(0, kDigits) ? image : std::string();
}

// A cache that cannot be written costs time alone.
void keep_code(const std::string& name, const std::string& image) {
  std::error_code ignored;
  std::filesystem::create_directories(user_cache_folder() + "/generated", ignored);
  const auto written = write_file_atomically(path_of(name), hex64(hash_text(image)) + image);
  if (!written) log(2, "{}", written.error().message);
}

Result<std::string> image_of(const std::string& name, const GeneratedSource& source, const GpuInfo& gpu,
                             const Compiler& compiler) {
  if (std::string kept = kept_code(name); !kept.empty()) return kept;
  RUNG_TRY(std::string image, compiler.compile(source.text, gpu.architecture));
  keep_code(name, image);
  return image;
}

}  // namespace

Result<std::shared_ptr<const GeneratedCode>> code_of(const GeneratedSource& source, const GpuInfo& gpu) {
  static std::mutex mutex;
  static std::map<std::string, std::shared_ptr<const GeneratedCode>> known;
  RUNG_TRY(const Compiler* compiler, compiler_for(gpu));
  RUNG_TRY(const std::string name, name_of(source, gpu, *compiler));
  const std::lock_guard lock(mutex);
  if (const auto it = known.find(name); it != known.end()) return it->second;
  RUNG_TRY(std::string image, image_of(name, source, gpu, *compiler));
  return known[name] = std::make_shared<const GeneratedCode>(GeneratedCode{name, std::move(image)});
}

}  // namespace rung::gpu
