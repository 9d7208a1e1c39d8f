// Opens, completes and writes a file of tuned products.
// SPDX-License-Identifier: Apache-2.0
#include "stacks/tuned_file.hpp"

#include <algorithm>
#include <filesystem>

#include "base/atomic_file.hpp"
#include "base/pending_files.hpp"
#include "device/gpu/modules.hpp"
#include "kernels/gpu/linear/library_rows.hpp"
#include "kernels/params_text.hpp"
#include "stacks/files/format.hpp"
#include "stacks/library_choice.hpp"
#include "stacks/pytorch.hpp"

namespace rung::stacks {
namespace {

// Our own list, with the results of each product: it can be given to tune again.
constexpr std::string_view kResultColumns =
    "m,n,k,batch,dtype,w_dtype,out_dtype,layout,x_stride,w_stride,bias,epilogue,count,default_us,best_us,ratio,ratio_"
    "lo,"
    "ratio_hi,chosen\n";

// An empty file counts as none: programs make one to test whether they can.
bool is_there(const std::string& path) {
  std::error_code unknown;
  const bool empty = std::filesystem::is_regular_file(path, unknown) && std::filesystem::file_size(path, unknown) == 0;
  return std::filesystem::exists(path, unknown) && !empty;
}

Result<const Stack*> stack_for(const ProductsTask& task, std::string_view source) {
  if (!task.format.empty()) {
    if (const Stack* named = stack_named(task.format)) return named;
    std::string words;
    for (const Stack& stack : stacks()) words.append(words.empty() ? "" : ", ").append(stack.word);
    return wrong_usage("format: got '{}', wanted one of {}", task.format, words);
  }
  if (!is_there(task.out)) {
    const Stack* found = stack_of_format(source);
    return found ? found : stack_of_format("shapes");
  }
  RUNG_TRY(const TuningFile file, read_tuning_file(task.out));
  const Stack* found = stack_of_format(file.format->name);
  if (found && found->format == file.format->name) return found;
  return wrong_usage("'{}' holds {}, wanted tuned products: name another file", task.out, file.format->title);
}

Status check_device(const Stack& stack, const Target& target) {
  const bool amd = target.gpu && gpu::vendor_of(target.machine.gpu.architecture) == gpu::Vendor::amd;
  if (stack.where == Where::anywhere || (stack.where == Where::gpu && target.gpu) || amd) return {};
  return wrong_usage("format {}: got the device {}, wanted {}", stack.word, target.name,
                     stack.where == Where::gpu ? "a GPU" : "a GPU of AMD's");
}

Validators validators_in(const TuningFile& file) {
  Validators found;
  for (const auto& fact : file.facts) found[fact.name] = fact.value;  // PyTorch keeps the last one of a name
  return found;
}

Result<PyTorch> pytorch_in(const std::string& path) {
  RUNG_TRY(const TuningFile written, read_tuning_file(path, "tunableop"));
  PyTorch found = pytorch_of(validators_in(written));
  if (found.validators.contains("PT_VERSION")) return found;
  return bad_file("'{}': got no line 'Validator,PT_VERSION,...', wanted what PyTorch wrote", path);
}

Result<PyTorch> pytorch_for(const ProductsTask& task) {
  if (!task.python.empty()) return ask_pytorch(task.python);
  if (!task.validators.empty()) return pytorch_in(task.validators);
  if (is_there(task.out)) return pytorch_in(task.out);
  auto asked = ask_pytorch("python3");
  if (asked) return asked;
  return fail_in(
      asked.error(),
      "PyTorch takes only files of its own version (its Python: --python; a file that it wrote: --validators)");
}

// Solution numbers belong to one build of a library, for one architecture.
Status check_validators(const Validators& validators, const TunedMachine& here) {
  const auto value = [&](std::string_view name) {
    const auto found = validators.find(name);
    return found == validators.end() ? std::string() : found->second;
  };
  const std::string theirs = value("GCN_ARCH_NAME"), architecture = theirs.substr(0, theirs.find(':'));
  if (here.is_amd() ? architecture != here.processor() : !theirs.empty())
    return mismatch("PyTorch's validators are for {}, this device is {}", theirs.empty() ? "no GPU of AMD's" : theirs,
                    here.architecture);
  for (const auto& [name, version] : here.versions)
    if (const std::string wanted = value(name); !wanted.empty() && wanted != version)
      return mismatch(
          "{}: PyTorch has {}, tuned here is {}, whose solutions have other numbers: put the folder of "
          "PyTorch's libraries into LD_LIBRARY_PATH",
          name, wanted, version);
  return {};
}

// An existing file must have the same validators: PyTorch takes it whole or not at all.
Status check_same(const TuningFile& file, const Validators& wanted) {
  const Validators has = validators_in(file);
  const auto value = [](const Validators& of, const std::string& name) {
    const auto found = of.find(name);
    return found == of.end() ? "none" : found->second;
  };
  for (const Validators* names : {&has, &wanted})
    for (const auto& [name, unused] : *names)
      if (value(has, name) != value(wanted, name))
        return mismatch("'{}' is for {} {}, wanted {}: write another file", file.path, name, value(has, name),
                        value(wanted, name));
  return {};
}

std::string lines_of(const Validators& validators) {
  std::string text;
  for (const auto& [name, value] : validators) text += fmt::format("Validator,{},{}\n", name, value);
  return text;
}

Result<TuningFile> file_of(const ProductsTask& task, const Stack& stack, const std::string& header,
                           const TunedMachine& machine) {
  if (is_there(task.out)) return read_tuning_file(task.out, stack.format);
  if (!header.empty()) return read_tuning_text(task.out, header, stack.format);
  RUNG_TRY(TuningFile made, new_tuning_file(stack.format, machine));
  made.path = task.out;
  return made;
}

// A list that a person made has no columns for results.
Status check_columns(const TuningFile& file) {
  const bool has_place =
      !file.tables.empty() && std::ranges::find(file.tables.front(), "chosen") != file.tables.front().end();
  if (has_place) return {};
  return bad_file("'{}' has no column 'chosen' for results: name another file", file.path);
}

std::map<std::string, std::string, std::less<>> results_of(const TunedProduct& product) {
  const auto number = [](double value) { return std::isfinite(value) ? fmt::format("{:.6g}", value) : ""; };
  return {{"default_us", number(product.default_us)},
          {"best_us", number(product.best_us)},
          {"ratio", number(product.ratio.ratio)},
          {"ratio_lo", number(product.ratio.lo)},
          {"ratio_hi", number(product.ratio.hi)},
          {"chosen", product.choice.kernel + params_text(product.choice.params)}};
}

}  // namespace

TunedMachine machine_of(const Target& target) {
  TunedMachine machine;
  if (!target.gpu) return machine;
  const gpu::GpuInfo& info = target.machine.gpu;
  machine.gpu = info.name;
  machine.architecture = gpu::architecture_name(info.architecture);
  machine.compute_units = info.multiprocessors;
  for (const gpu::GemmLibrary* library : info.gemm_libraries) {
    const std::string build = library->build ? library->build() : "", name = library->name;
    if (build.empty()) continue;
    machine.versions[name == "rocblas" ? "ROCBLAS_VERSION" : "HIPBLASLT_VERSION"] = build;
    if (name == "hipblaslt") machine.versions["Git Version"] = build.substr(build.find('-') + 1);
  }
  return machine;
}

Result<TunedFile> TunedFile::open(const ProductsTask& task, std::string_view source, const Target& target) {
  TunedFile made;
  RUNG_TRY(made.stack_, stack_for(task, source));
  RUNG_CHECK(check_device(*made.stack_, target));
  made.target_ = &target, made.machine_ = machine_of(target);
  PyTorch pytorch;
  std::string header = made.stack_->rows == Rows::all ? std::string(kResultColumns) : "";
  if (made.stack_->format == "tunableop") {
    RUNG_TRY(pytorch, pytorch_for(task));
    RUNG_CHECK(check_validators(pytorch.validators, made.machine_));
    made.takes_cublaslt_ = pytorch.takes_cublaslt;
    header = lines_of(pytorch.validators);
  }
  RUNG_CHECK(check_writable_folder(std::filesystem::path(task.out).parent_path().string()));
  RUNG_TRY(made.file_, file_of(task, *made.stack_, header, made.machine_));
  if (made.stack_->rows == Rows::all) RUNG_CHECK(check_columns(made.file_));
  if (made.stack_->format == "tunableop") RUNG_CHECK(check_same(made.file_, pytorch.validators));
  return made;
}

Result<Entry> TunedFile::entry_of(const TunedProduct& product, const Problem& problem) const {
  Entry entry{.shape = product.shape,
              .key = "",
              .us = product.faster ? product.best_us : product.default_us,
              .architecture = machine_.processor(),
              .compute_units = machine_.compute_units,
              .others = {}};
  if (stack_->rows == Rows::all) {
    entry.others = results_of(product);
    return entry;
  }
  if (stack_->format == "aiter")
    entry.others["err_ratio"] = "";  // the results agree as a whole; wrong elements were not counted
  if (product.faster) {
    RUNG_TRY(entry.solution, solution_of(*target_, problem, product.choice));
    if (stack_->format != "tunableop") entry.solution->name.clear();  // other stacks identify it by number
    return entry;
  }
  entry.solution = Solution{
      .library = std::string(stack_->kept_library), .name = std::string(stack_->kept_name), .index = {}, .split_k = {}};
  return entry;
}

void TunedFile::put(TunedProduct& product, const Problem& problem) {
  const gpu::GemmLibrary* library = product.faster ? library_of(*target_, product.choice.kernel) : nullptr;
  if (library && library->name == gpu::kCublaslt.name && stack_->format == "tunableop" && !takes_cublaslt_) {
    product.reason += fmt::format(", but PyTorch before 2.14 takes its own default alone on NVIDIA ({}{} is left out)",
                                  product.choice.kernel, params_text(product.choice.params));
    product.faster = false;
    product.choice.params.clear();
  }
  if (!product.faster && stack_->rows == Rows::library && stack_->kept_library.empty()) return;
  auto entry = entry_of(product, problem);
  if (!entry) return void(product.reason += "; not written: " + entry.error().message);
  std::string said =
      stack_->rows == Rows::all ? product.choice.kernel + params_text(product.choice.params) : entry->solution->name;
  if (said.empty()) said = entry->solution->library;
  if (entry->solution && entry->solution->name.empty() && entry->solution->index)
    said += fmt::format(" {}", *entry->solution->index);
  if (Status put = stacks::put(file_, std::move(*entry)); !put)
    return void(product.reason += "; not written: " + put.error().message);
  product.solution = std::move(said);
  ++rows_;
}

Status TunedFile::write() const { return write_file_atomically(file_.path, text_of(file_)); }

}  // namespace rung::stacks
