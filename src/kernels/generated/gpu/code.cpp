// Finds code in the process, then in the user's cache, and else compiles it.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/generated/gpu/code.hpp"

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <set>

#include "base/cores.hpp"
#include "base/hash.hpp"
#include "base/parallel.hpp"
#include "device/gpu/compilers/compiler.hpp"
#include "device/gpu/modules.hpp"
#include "kernels/generated/gpu/code_cache.hpp"

namespace rung::gpu {
namespace {

std::atomic<size_t> g_compilations{0};

// The code that this process compiled or read from the cache, by name.
class KnownCode {
 public:
  CodePointer find(const std::string& name) {
    const std::lock_guard lock(mutex_);
    const auto it = known_.find(name);
    return it == known_.end() ? nullptr : it->second;
  }
  // Returns the code that was added first for its source.
  CodePointer add(GeneratedCode code) {
    auto added = std::make_shared<const GeneratedCode>(std::move(code));
    const std::lock_guard lock(mutex_);
    CodePointer& known = known_[added->name];
    if (!known || known->source != added->source) known = added;
    return known;
  }

 private:
  std::mutex mutex_;
  std::map<std::string, CodePointer> known_;
};
KnownCode g_known;

// Compiles for one architecture with one compiler.
class Compilation {
 public:
  static Result<Compilation> with(const GpuInfo& gpu) {
    RUNG_TRY(const Compiler* compiler, compiler_for(gpu));
    RUNG_TRY(std::string version, compiler->version());
    return Compilation{*compiler, std::move(version), gpu.architecture};
  }
  CodePointer before(std::string_view source) const { return compiled_before(source, target_, version_); }
  // Compiles sources as one text, which takes a third of the time that they take one by one.
  Status compile(std::span<const std::string> sources) const {
    const bool joined = sources.size() > 1;
    RUNG_TRY(std::string bytes, compiler_.compile(joined ? joined_source(sources) : sources[0], architecture_));
    g_compilations += sources.size();
    const ImagePointer image = image_of(std::move(bytes));
    keep_image(*image);
    for (size_t i = 0; i < sources.size(); ++i) {
      GeneratedCode code{.name = code_name(sources[i], target_, version_),
                         .target = target_,
                         .compiler = version_,
                         .source = sources[i],
                         .entry = joined ? joined_entry(i) : kGeneratedEntry,
                         .image = image};
      keep_code(code);
      g_known.add(std::move(code));
    }
    return {};
  }

 private:
  Compilation(const Compiler& compiler, std::string version, int architecture)
      : compiler_(compiler),
        version_(std::move(version)),
        architecture_(architecture),
        target_(architecture_name(architecture)) {}
  const Compiler& compiler_;
  std::string version_;
  int architecture_;
  std::string target_;
};

// Cuts sources into equal shares, as many for each core as keep them short.
std::vector<std::span<const std::string>> shares_of(std::span<const std::string> sources) {
  constexpr size_t kMostTogether = 32;
  const auto divided = [](size_t count, size_t by) { return (count + by - 1) / by; };
  const auto cores = static_cast<size_t>(usable_cores());
  const size_t rounds = divided(sources.size(), cores * kMostTogether);
  std::vector<std::span<const std::string>> shares;
  for (const size_t each = divided(sources.size(), std::max<size_t>(cores * rounds, 1)); !sources.empty();
       sources = sources.subspan(shares.back().size()))
    shares.push_back(sources.first(std::min(each, sources.size())));
  return shares;
}

}  // namespace

ImagePointer image_of(std::string bytes) {
  std::string hash = hex64(hash_text(bytes));
  return std::make_shared<const CodeImage>(CodeImage{std::move(bytes), std::move(hash)});
}

std::string code_name(std::string_view source, std::string_view target, std::string_view compiler) {
  uint64_t hash = hash_text(source, hash_text(compiler));
  for (const SourceHeader& header : generated_headers()) hash = hash_text(header.text, hash);
  return fmt::format("generated_{}_{}", target, hex64(hash));
}

CodePointer compiled_before(std::string_view source, std::string_view target, std::string_view compiler) {
  const std::string name = code_name(source, target, compiler);
  const auto is_asked = [&](const GeneratedCode& code) { return code.source == source && code.target == target; };
  if (CodePointer known = g_known.find(name); known && is_asked(*known)) return known;
  auto kept = read_kept_code(name);
  return kept && is_asked(*kept) ? g_known.add(std::move(*kept)) : nullptr;
}

Result<CodePointer> code_of(const std::string& source, const GpuInfo& gpu) {
  RUNG_TRY(const Compilation compilation, Compilation::with(gpu));
  if (CodePointer before = compilation.before(source)) return before;
  RUNG_CHECK(compilation.compile({&source, 1}));
  return compilation.before(source);
}

Status compile_all(std::span<const std::string> sources, const GpuInfo& gpu) {
  RUNG_TRY(const Compilation compilation, Compilation::with(gpu));
  std::set<std::string> wanted;
  for (const std::string& source : sources)
    if (!compilation.before(source)) wanted.insert(source);
  const std::vector<std::string> missing(wanted.begin(), wanted.end());
  const auto shares = shares_of(missing);
  std::vector<Status> done(shares.size());
  parallel_for(shares.size(), [&](size_t i) {
    if (compilation.compile(shares[i])) return;
    for (const std::string& source : shares[i])  // only alone does it show which of them is refused
      if (Status alone = compilation.compile({&source, 1}); !alone && done[i]) done[i] = std::move(alone);
  });
  for (Status& status : done) RUNG_CHECK(std::move(status));
  return {};
}

size_t compilations() { return g_compilations; }

}  // namespace rung::gpu
