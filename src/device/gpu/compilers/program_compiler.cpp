// Opens a compiler's library and compiles one program with it.
// SPDX-License-Identifier: Apache-2.0
#include "device/gpu/compilers/program_compiler.hpp"

#include <dlfcn.h>

namespace rung::gpu {
namespace {

void* open_first(const std::vector<const char*>& files) {
  for (const char* file : files)
    if (void* opened = dlopen(file, RTLD_NOW | RTLD_LOCAL)) return opened;
  return nullptr;
}

// A program that goes with its owner.
class Owned {
 public:
  explicit Owned(const ProgramCompiler& compiler) : compiler_(compiler) {}
  ~Owned() {
    if (program) compiler_.destroy(&program);
  }
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;
  ProgramCompiler::Program program = nullptr;

 private:
  const ProgramCompiler& compiler_;
};

std::string log_of(const ProgramCompiler& compiler, ProgramCompiler::Program program) {
  size_t bytes = 0;
  if (compiler.log_bytes(program, &bytes) != 0 || bytes == 0) return {};
  std::string text(bytes, '\0');
  return compiler.log(program, text.data()) == 0 ? first_words(text) : std::string();
}

}  // namespace

Result<ProgramCompiler> open_compiler(const ProgramLibrary& library) {
  void* opened = open_first(library.files);
  if (!opened) return no_device("no {}: {}", library.word, dlerror());
  ProgramCompiler found;
  const auto find = [&](const std::string& name, auto& to) {
    return find_function(opened, library.word, (library.prefix + name).c_str(), to);
  };
  RUNG_CHECK(find("GetErrorString", found.error_text));
  RUNG_CHECK(find("Version", found.version));
  RUNG_CHECK(find("CreateProgram", found.create));
  RUNG_CHECK(find("CompileProgram", found.compile));
  RUNG_CHECK(find("GetProgramLogSize", found.log_bytes));
  RUNG_CHECK(find("GetProgramLog", found.log));
  RUNG_CHECK(find(std::string("Get") + library.code + "Size", found.code_bytes));
  RUNG_CHECK(find(std::string("Get") + library.code, found.code));
  RUNG_CHECK(find("DestroyProgram", found.destroy));
  int major = 0, minor = 0;
  if (int code = found.version(&major, &minor)) return no_device("{}: {}", library.word, found.error_text(code));
  found.name = fmt::format("{} {}.{}", library.word, major, minor);
  return found;
}

Result<std::string> compile_with(const ProgramCompiler& compiler, const std::string& source,
                                 const std::vector<const char*>& options) {
  std::vector<std::string> texts;  // the library wants each to end in a zero
  std::vector<const char*> names, addresses;
  for (const SourceHeader& header : generated_headers()) texts.emplace_back(header.text), names.push_back(header.name);
  for (const std::string& text : texts) addresses.push_back(text.c_str());
  const auto check = [&](int code, std::string_view what) -> Status {
    if (code != 0) return fail("{}: {}: {}", compiler.name, what, compiler.error_text(code));
    return {};
  };
  Owned owned(compiler);
  RUNG_CHECK(check(compiler.create(&owned.program, source.c_str(), "generated.cu", static_cast<int>(names.size()),
                                   addresses.data(), names.data()),
                   "making a program"));
  if (int code = compiler.compile(owned.program, static_cast<int>(options.size()), options.data()))
    return fail("{}: {}: {}", compiler.name, compiler.error_text(code), log_of(compiler, owned.program));
  size_t bytes = 0;
  RUNG_CHECK(check(compiler.code_bytes(owned.program, &bytes), "the size of the code"));
  std::string image(bytes, '\0');
  RUNG_CHECK(check(compiler.code(owned.program, image.data()), "the code"));
  if (image.empty()) return fail("{} gave no code", compiler.name);
  return image;
}

}  // namespace rung::gpu
