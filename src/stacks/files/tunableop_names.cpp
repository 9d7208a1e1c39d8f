// Reads and makes names of operations and sizes.
// SPDX-License-Identifier: Apache-2.0
#include "stacks/files/tunableop_names.hpp"

#include <vector>

#include "stacks/files/fields.hpp"

namespace rung::stacks {
namespace {

// Bias types, which PyTorch names by its scalar types here.
struct BiasWord {
  ElementType type;
  std::string_view word;
};
constexpr BiasWord kBiasWords[] = {{ElementType::f32, "Float"},
                                   {ElementType::f16, "Half"},
                                   {ElementType::bf16, "BFloat16"},
                                   {ElementType::f64, "Double"}};

// Takes the type that `text` begins with, and the '_' after it. Names of types contain '_' themselves; none is a prefix
// of another.
Result<ElementType> take_type(std::string_view& text) {
  for (size_t i = 0;; ++i) {
    const auto type = static_cast<ElementType>(i);
    if (i > static_cast<size_t>(ElementType::c64)) break;
    const std::string_view word = name_of(type, Words::tunableop);
    if (word.empty() || !text.starts_with(word) || text.size() <= word.size() || text[word.size()] != '_') continue;
    text.remove_prefix(word.size() + 1);
    return type;
  }
  return mismatch("got {} where a type such as BFloat16 should stand", shown(text));
}

std::optional<TunableOp> take_op(std::string_view& name) {
  for (size_t i = 0; i < kTunableOpWords.size(); ++i) {
    const std::string_view word = kTunableOpWords[i];
    if (!name.starts_with(word) || name.size() <= word.size() || name[word.size()] != '_') continue;
    name.remove_prefix(word.size() + 1);
    return static_cast<TunableOp>(i);
  }
  return {};
}

// Takes words between '_' one by one.
class Parts {
 public:
  explicit Parts(std::string_view text) : parts_(cells_of(text, '_')) {}
  bool done() const { return at_ == parts_.size(); }
  std::string_view peek() const { return done() ? std::string_view() : parts_[at_]; }
  std::string_view take() { return done() ? std::string_view() : parts_[at_++]; }
  // Returns 0 for a '*'.
  Result<int64_t> number(std::string_view what) {
    const std::string_view part = take();
    if (part == "*") {
      is_pattern_ = true;
      return 0;
    }
    const auto number = whole_number(part);
    if (number && part == trimmed(part)) return *number;
    return mismatch("{}: got {}, wanted a whole number", what, shown(part));
  }
  bool is_pattern() const { return is_pattern_; }
  Status expect(std::string_view word) {
    const std::string_view got = take();
    if (got == word) return {};
    return mismatch("got {}, wanted {}", shown(got), shown(word));
  }

 private:
  std::vector<std::string_view> parts_;
  size_t at_ = 0;
  bool is_pattern_ = false;
};

Status take_bias(Parts& parts, GemmShape& shape) {
  RUNG_CHECK(parts.expect("bias"));
  const std::string_view word = parts.take();
  if (word == "None") return {};
  for (const BiasWord& known : kBiasWords)
    if (known.word == word) shape.bias = known.type;
  if (!shape.bias) return mismatch("bias: got {}, wanted None or a type such as BFloat16", shown(word));
  return {};
}

// AMD writes "rw_1_bias_None", followed by "swz_0_1" where scales are in another order.
Status take_amd_scaling(Parts& parts, GemmShape& shape) {
  RUNG_CHECK(parts.expect("rw"));
  RUNG_TRY(const int64_t by_row, parts.number("rw"));
  shape.scaling = by_row ? Scaling::row : Scaling::tensor;
  RUNG_CHECK(take_bias(parts, shape));
  if (parts.peek() != "swz") return {};
  parts.take();
  RUNG_CHECK(parts.number("swz"));
  RUNG_CHECK(parts.number("swz"));
  shape.scaling = Scaling::block;
  return {};
}

// NVIDIA writes "a_T_b_T_c_T_as_T_bs_T_ast_N_bst_N_dscale_N_fast_N_bias_T": types contain '_', and the operation's name
// has them too.
Status take_nvidia_scaling(Parts& parts, GemmShape& shape) {
  while (!parts.done() && parts.peek() != "ast") parts.take();
  RUNG_CHECK(parts.expect("ast"));
  RUNG_TRY(const int64_t kind, parts.number("ast"));
  shape.scaling = kind == 0 ? Scaling::tensor : kind == 1 ? Scaling::row : Scaling::block;
  for (const std::string_view word : {"bst", "dscale", "fast"}) {
    RUNG_CHECK(parts.expect(word));
    RUNG_CHECK(parts.number(word));
  }
  return take_bias(parts, shape);
}

Status take_end(Parts& parts, const OperationName& operation, GemmShape& shape) {
  if (operation.op == TunableOp::scaled)
    RUNG_CHECK(parts.peek() == "a" ? take_nvidia_scaling(parts, shape) : take_amd_scaling(parts, shape));
  if (operation.w == ElementType::bf16x9)
    for (const std::string_view word : {"compute", "bf16x9", "r"}) RUNG_CHECK(parts.expect(word));
  if (!parts.done()) return mismatch("got {} after the sizes, wanted nothing", shown(parts.peek()));
  return {};
}

Status take_leading(Parts& parts, BlasShape& blas) {
  if (parts.peek() != "ld") return {};
  parts.take();
  RUNG_TRY(blas.lda, parts.number("lda"));
  RUNG_TRY(blas.ldb, parts.number("ldb"));
  RUNG_TRY(blas.ldc, parts.number("ldc"));
  return {};
}

TunableOp op_of(const GemmShape& shape) {
  if (shape.scaling != Scaling::none) return TunableOp::scaled;
  if (shape.batch > 1) return TunableOp::batched;
  return shape.bias ? TunableOp::bias : TunableOp::gemm;
}

Status check_tunableop(const GemmShape& shape, TunableOp op) {
  if (shape.scaling == Scaling::block) return mismatch("TunableOp has no product whose factors are those of blocks");
  if (op != TunableOp::scaled && (shape.x != shape.w || shape.x != shape.out))
    return mismatch("TunableOp has no product of several types without scaling");
  if (op != TunableOp::bias && shape.epilogue != Epilogue::none)
    return mismatch("TunableOp has no product with an activation and no bias");
  if (op == TunableOp::batched && shape.bias) return mismatch("TunableOp has no batched product with a bias");
  if (op == TunableOp::bias && *shape.bias != shape.out)
    return mismatch("TunableOp has no bias of another type than the result's");
  for (const ElementType type : {shape.x, shape.w, shape.out})
    if (name_of(type, Words::tunableop).empty()) return mismatch("TunableOp has no products of {}", name_of(type));
  return {};
}

std::string scaling_text(const GemmShape& shape) {
  std::string_view bias = "None";
  for (const BiasWord& known : kBiasWords)
    if (shape.bias == known.type) bias = known.word;
  return fmt::format("_rw_{}_bias_{}", shape.scaling == Scaling::row ? 1 : 0, bias);
}

}  // namespace

Result<OperationName> parse_operation(std::string_view name) {
  const std::string_view whole = name;
  OperationName operation;
  const auto op = take_op(name);
  if (!op) return mismatch("got operation {}, wanted one of {}", shown(whole), fmt::join(kTunableOpWords, ", "));
  operation.op = *op;
  RUNG_TRY(operation.w, take_type(name));
  operation.x = operation.out = operation.w;
  if (*op == TunableOp::scaled) {
    RUNG_TRY(operation.x, take_type(name));
    RUNG_TRY(operation.out, take_type(name));
  }
  const auto layout = layout_named(name);
  if (!layout || name != name_of(*layout)) return mismatch("got layout {}, wanted TN, NN, NT or TT", shown(name));
  operation.layout = *layout;
  return operation;
}

Result<std::optional<GemmShape>> parse_sizes(const OperationName& operation, std::string_view sizes) {
  Parts parts(sizes);
  const std::string_view word = parts.take();
  const auto layout = layout_named(word);
  if (!layout) return mismatch("got layout {}, wanted tn, nn, nt or tt", shown(word));
  BlasShape blas{word[0], word[1]};
  RUNG_TRY(blas.m, parts.number("m"));
  RUNG_TRY(blas.n, parts.number("n"));
  RUNG_TRY(blas.k, parts.number("k"));
  GemmShape shape;
  shape.w = operation.w, shape.x = operation.x, shape.out = operation.out;
  if (operation.op == TunableOp::bias) shape.bias = operation.out;
  if (operation.op == TunableOp::batched) {
    RUNG_CHECK(parts.expect("B"));
    RUNG_TRY(shape.batch, parts.number("B"));
  }
  RUNG_CHECK(take_leading(parts, blas));
  RUNG_CHECK(take_end(parts, operation, shape));
  if (parts.is_pattern()) return std::nullopt;
  RUNG_CHECK(check_leading(blas));
  shape = shape_of(blas, shape);
  RUNG_CHECK(check(shape));
  return shape;
}

Result<std::string> tunableop_key(const GemmShape& shape) {
  RUNG_CHECK(check(shape));
  const TunableOp op = op_of(shape);
  RUNG_CHECK(check_tunableop(shape, op));
  std::string key = fmt::format("{}_{}", kTunableOpWords[static_cast<size_t>(op)], name_of(shape.w, Words::tunableop));
  if (op == TunableOp::scaled)
    key += fmt::format("_{}_{}", name_of(shape.x, Words::tunableop), name_of(shape.out, Words::tunableop));
  const BlasShape blas = blas_of(shape);
  key += fmt::format("_{},{}{}_{}_{}_{}", name_of(shape.layout), blas.trans_a == 'T' ? 't' : 'n',
                     blas.trans_b == 'T' ? 't' : 'n', blas.m, blas.n, blas.k);
  if (op == TunableOp::batched) key += fmt::format("_B_{}", shape.batch);
  key += fmt::format("_ld_{}_{}_{}", blas.lda, blas.ldb, blas.ldc);
  if (op == TunableOp::scaled) key += scaling_text(shape);
  if (shape.w == ElementType::bf16x9) key += "_compute_bf16x9_r";
  return key;
}

std::optional<PyTorchVersion> pytorch_version_of(std::string_view text) {
  const auto parts = cells_of(text, '.');
  if (parts.size() < 2) return {};
  const auto major = whole_number(parts[0]), minor = whole_number(parts[1]);
  if (!major || !minor) return {};
  return PyTorchVersion{*major, *minor};
}

}  // namespace rung::stacks
