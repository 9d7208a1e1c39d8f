// Finds products by the operations that compute them.
// SPDX-License-Identifier: Apache-2.0
#include "trace/findings/products.hpp"

#include <optional>
#include <unordered_map>

#include "trace/findings/derived.hpp"

namespace rung::trace {
namespace {

// Reads each product's texts once: operations with the same name and operands, such as those of all layers and steps,
// are one product.
class KnownProducts {
 public:
  explicit KnownProducts(const Recording& recording) : recording_(recording) {}

  const std::optional<RecordedProduct>& product_of(const Event& op) {
    const auto [at, is_new] = known_.try_emplace(uint64_t{op.name} << 32 | op.detail);
    if (is_new && product_kind(recording_.name_of(op)))
      if (auto product = trace::product_of(recording_, op)) at->second = std::move(*product);
    return at->second;
  }

 private:
  const Recording& recording_;
  std::unordered_map<uint64_t, std::optional<RecordedProduct>> known_;
};

std::vector<Product> find_products(const Analysis& analysis) {
  constexpr size_t kMostWork = 16;  // a library's product takes one to five; with more it is something else
  std::vector<Product> products;
  std::unordered_map<uint32_t, size_t> product_of_op;  // kNoProduct: examined, no product
  constexpr size_t kNoProduct = SIZE_MAX;
  KnownProducts known(analysis.recording);
  for (size_t i = 0; i < analysis.work.size(); ++i) {
    const uint32_t op = analysis.work[i].op;
    if (op == kNone) continue;
    const auto [at, is_new] = product_of_op.emplace(op, kNoProduct);
    if (is_new) {
      const std::optional<RecordedProduct>& product = known.product_of(analysis.recording.events[op]);
      if (!product) continue;
      at->second = products.size();
      products.push_back({*product, op, i, i, i});
    }
    if (at->second == kNoProduct) continue;
    Product& product = products[at->second];
    const int64_t ns = analysis.event(analysis.work[i]).duration_ns;
    product.ns += ns;
    product.last = i;
    if (ns > analysis.event(analysis.work[product.main]).duration_ns) product.main = i;
  }
  std::erase_if(products, [](const Product& product) { return product.last - product.first >= kMostWork; });
  return products;
}

}  // namespace

double Product::flops() const { return 2 * double(batch) * double(m) * double(n) * double(k); }

Demand Product::demand(int bytes) const {
  const int size = bytes > 0 ? bytes : bytes_of(a.type);
  const double operands = double(stored_elements_of(a)) + double(stored_elements_of(b));
  return {flops(), size * (operands + double(batch) * double(m) * double(n))};
}

const std::vector<Product>& products_of(const Analysis& analysis) {
  std::optional<std::vector<Product>>& products = derived(analysis).products;
  if (!products) products = find_products(analysis);
  return *products;
}

}  // namespace rung::trace
