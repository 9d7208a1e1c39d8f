// Tunes the products of a list: in the order of possible gain, as far as the budget goes.
// SPDX-License-Identifier: Apache-2.0
#include "stacks/tune.hpp"

#include <algorithm>
#include <numeric>
#include <optional>

#include "base/tool.hpp"
#include "device/gpu/current_context.hpp"
#include "ladder/budget.hpp"
#include "open/open_model.hpp"
#include "open/recipe.hpp"
#include "stacks/gemm_problem.hpp"
#include "stacks/product_tuner.hpp"
#include "stacks/tuned_file.hpp"
#include "tune/gpu_worker.hpp"

namespace rung::stacks {
namespace {

Result<const Target*> target_of(const ProductsTask& task) {
  RUNG_TRY(const Target* target, target_for(task.device));
  if (target->machine.gpu.counts_instructions)
    return wrong_usage("{} counts instructions, wanted a device that takes time: tuning compares times", target->name);
  if (target->gpu) RUNG_CHECK(path_of_tool());  // it runs candidates of a GPU
  return target;
}

// Returns indices of products, those with the most to gain first.
std::vector<size_t> in_order(const std::vector<TunedProduct>& products) {
  std::vector<size_t> order(products.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, std::ranges::greater{}, [&](size_t i) { return headroom_of(products[i].shape); });
  return order;
}

class TuningRun {
 public:
  TuningRun(const ProductsTask& task, const Target& target, TuningDatabase& database, std::optional<TunedFile>& file)
      : task_(task), target_(target), file_(file), clock_(task.budget_s), tuner_(database, options()) {}

  TuningRun(const TuningRun&) = delete;
  TuningRun& operator=(const TuningRun&) = delete;

  void tune(TunedProducts& tuned) {
    const std::vector<size_t> order = in_order(tuned.products);
    for (size_t done = 0; done < order.size(); ++done) {
      show_progress(done, order.size());
      TunedProduct& product = tuned.products[order[done]];
      if (tuner_.out_of_time())
        product.reason = interrupted() ? "not tuned: interrupted" : "not tuned: no time left";
      else
        tune_one(product);
    }
    tuned.interrupted = interrupted();
    tuned.tuning_s = clock_.spent();
    if (file_) put_rows(tuned.products);
  }

 private:
  bool interrupted() const { return task_.interrupted && task_.interrupted(); }
  ProductTuner::Options options() {
    return {.target = target_, .stack = file_ ? &file_->stack() : nullptr, .clock = clock_, .interrupted = [this] {
              return interrupted();
            }};
  }
  int threads() const { return threads_for(target_, task_.threads); }

  void show_progress(size_t done, size_t of) {
    const double fraction =
        std::max(static_cast<double>(done) / static_cast<double>(of), clock_.spent() / clock_.total());
    if (task_.progress) task_.progress(fmt::format("tuning {}/{}", done, of), fraction);
  }

  void tune_one(TunedProduct& product) {
    const auto problem = problem_of(product.shape, threads());
    if (!problem) return void(product.reason = "not tuned: " + problem.error().message);
    tuner_.tune(*problem, product);
  }

  // Adds the rows in the order of the list.
  void put_rows(std::vector<TunedProduct>& products) {
    for (TunedProduct& product : products)
      if (!product.choice.kernel.empty()) file_->put(product, *problem_of(product.shape, threads()));
  }

  const ProductsTask& task_;
  const Target& target_;
  std::optional<TunedFile>& file_;
  Budget clock_;
  ProductTuner tuner_;
};

Result<std::optional<TunedFile>> file_of(const ProductsTask& task, const Target& target, std::string_view source) {
  if (task.out.empty() && !task.format.empty())
    return wrong_usage("format: got '{}' and no file to write", task.format);
  if (task.out.empty()) return std::nullopt;
  RUNG_TRY(TunedFile file, TunedFile::open(task, source, target));
  return file;
}

}  // namespace

Result<TunedProducts> tune_products(const ProductsTask& task) {
  if (!(task.budget_s >= kLeastBudget))
    return wrong_usage("--budget: got {} s, wanted at least {} s", task.budget_s, kLeastBudget);
  RUNG_TRY(const GemmList list, read_gemm_list(task.products));
  RUNG_TRY(const Target* target, target_of(task));
  RUNG_TRY(std::optional<TunedFile> file, file_of(task, *target, list.source));
  RUNG_TRY(TuningDatabase database, TuningDatabase::open(task.database, target->fingerprint));
  std::optional<gpu::CurrentContext> current;  // to ask libraries for their algorithms
  if (target->gpu) current.emplace(*target->gpu);
  const struct WorkerEnds {
    ~WorkerEnds() { end_gpu_worker(); }
  } with_the_task;
  TunedProducts tuned{.device = target->fingerprint, .source = list.source, .products = {}, .remarks = list.remarks()};
  for (const auto& shape : list.shapes())
    tuned.products.push_back({.shape = shape, .choice = {}, .solution = "", .reason = ""});
  const DisturbanceWatch watch;
  TuningRun(task, *target, database, file).tune(tuned);
  end_gpu_worker();  // then its work counts as this process's own
  tuned.disturbance = watch.so_far();
  if (Status saved = database.save(); !saved) tuned.unsaved = saved.error().message;
  if (!file) return tuned;
  if (file->rows() > 0) RUNG_CHECK(file->write());
  tuned.out = task.out, tuned.format = file->stack().word, tuned.written = file->rows();
  return tuned;
}

}  // namespace rung::stacks
