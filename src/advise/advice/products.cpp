// Finds products by the operations that compute them.
// SPDX-License-Identifier: Apache-2.0
#include "advise/advice/products.hpp"

#include <optional>
#include <unordered_map>

#include "advise/advice/derived.hpp"

namespace rung::advise {
namespace {

struct ProductOp {
  std::string_view name;
  size_t a, b;        // which operands
  bool b_transposed;  // [n, k]
};
constexpr ProductOp kProductOps[] = {
    {"aten::mm", 0, 1, false},
    {"aten::addmm", 1, 2, false},
    {"aten::_addmm_activation", 1, 2, false},
    {"aten::bmm", 0, 1, false},
    {"aten::baddbmm", 1, 2, false},
    {"aten::_scaled_mm", 0, 1, false},
    {"aten::linear", 0, 1, true},
    {"vllm::rocm_unquantized_gemm", 0, 1, true},
};

// Rows of all dimensions before the last.
int64_t rows_of(const Operand& operand) {
  const int64_t elements = elements_of(operand);
  return operand.shape.empty() || operand.shape.back() <= 0 ? 0 : elements / operand.shape.back();
}

// What a file says may be any number; sums and products of these do not overflow.
bool are_sizes(const Product& product) {
  constexpr int64_t kMost = INT32_MAX;
  for (const int64_t size : {product.batch, product.m, product.n, product.k})
    if (size <= 0 || size > kMost) return false;
  for (const Operand* operand : {&product.a, &product.b})
    for (const int64_t stride : operand->strides)
      if (stride < 0 || stride > kMost * kMost) return false;
  return true;
}

bool set_sizes(Product& product, bool b_transposed) {
  const std::vector<int64_t>&a = product.a.shape, &b = product.b.shape;
  if (a.size() < 2 || b.size() < 2) return false;
  const bool batched = b.size() == 3 && a.size() == 3;
  if (!batched && b.size() != 2) return false;
  product.batch = batched ? a[0] : 1;
  product.m = batched ? a[1] : rows_of(product.a);
  product.k = a.back();
  product.n = b_transposed ? b[b.size() - 2] : b.back();
  const int64_t inner = b_transposed ? b.back() : b[b.size() - 2];
  return inner == product.k && are_sizes(product);
}

// Inductor's templates take operands in any shape and the result last, before sizes of the grid: by their elements.
bool set_template_sizes(Product& product, const std::vector<Operand>& operands) {
  std::vector<const Operand*> tensors;
  for (const Operand& operand : operands)
    if (operand.shape.size() >= 2) tensors.push_back(&operand);
  if (tensors.size() < 3) return false;
  product.a = *tensors[0];
  product.b = *tensors[1];
  product.n = tensors.back()->shape.back();
  product.m = rows_of(*tensors.back());
  if (product.n <= 0 || product.m <= 0) return false;
  product.k = elements_of(product.b) / product.n;
  return are_sizes(product) && elements_of(product.b) % product.n == 0 && elements_of(product.a) % product.m == 0 &&
         elements_of(product.a) / product.m == product.k;
}

bool is_template(std::string_view op) {
  return op.starts_with("triton_tem_") && op.find("mm") != op.npos && op.find("attention") == op.npos;
}

std::optional<Product> read_product(const Recording& recording, const Event& op) {
  const std::string_view name = recording.name_of(op);
  Product product;
  if (is_template(name)) {
    if (!set_template_sizes(product, operands_of(recording, op))) return std::nullopt;
    return product;
  }
  for (const ProductOp& row : kProductOps) {
    if (name != row.name) continue;
    std::vector<Operand> operands = operands_of(recording, op);
    if (operands.size() <= row.b) return std::nullopt;
    product.a = std::move(operands[row.a]);
    product.b = std::move(operands[row.b]);
    if (set_sizes(product, row.b_transposed)) return product;
  }
  return std::nullopt;
}

// Operations of one name and the same operands, such as those of all layers and steps, are one product: their texts are
// read once.
class KnownProducts {
 public:
  explicit KnownProducts(const Recording& recording) : recording_(recording) {}

  const std::optional<Product>& product_of(const Event& op) {
    const auto [at, is_new] = known_.try_emplace(uint64_t{op.name} << 32 | op.detail);
    if (is_new) at->second = read_product(recording_, op);
    return at->second;
  }

 private:
  const Recording& recording_;
  std::unordered_map<uint64_t, std::optional<Product>> known_;
};

std::vector<Product> find_products(const Analysis& analysis) {
  constexpr size_t kMostWork = 16;  // a library's product takes one to five; what takes more is something else
  std::vector<Product> products;
  std::unordered_map<uint32_t, size_t> product_of_op;  // kNoProduct: looked at
  constexpr size_t kNoProduct = SIZE_MAX;
  KnownProducts known(analysis.recording);
  for (size_t i = 0; i < analysis.work.size(); ++i) {
    const uint32_t op = analysis.work[i].op;
    if (op == kNone) continue;
    const auto [at, is_new] = product_of_op.emplace(op, kNoProduct);
    if (is_new) {
      std::optional<Product> product = known.product_of(analysis.recording.events[op]);
      if (!product) continue;
      product->op = op;
      product->first = product->main = i;
      at->second = products.size();
      products.push_back(std::move(*product));
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

}  // namespace rung::advise
