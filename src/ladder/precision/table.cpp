// Solves a table for each type of values, and writes mixtures as entries.
// SPDX-License-Identifier: Apache-2.0
#include "ladder/precision/table.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

namespace rung {
namespace {

// The options of a part in one base, and the form that each one is.
struct FormOptions {
  PartOptions part;
  std::vector<size_t> forms;
};

FormOptions options_of(const PrecisionTable& table, const ValuesTimes& base, size_t part) {
  FormOptions options{{table.parts[part].name(), {}}, {}};
  for (size_t form = 0; form < table.forms.size(); ++form) {
    const double us = base.part_us[part][form], squared = table.squared_error[part][form];
    if (std::isnan(us) || std::isnan(squared)) continue;
    options.part.options.push_back({us, squared});
    options.forms.push_back(form);
  }
  return options;
}

// Adds the frontier of one base, with forms of the table in place of options.
Status add_frontier(const PrecisionTable& table, size_t index, MixedFrontier& all) {
  const ValuesTimes& base = table.bases[index];
  if (!base.squared_error) return {};
  std::vector<FormOptions> options;
  std::vector<PartOptions> parts;
  for (size_t part = 0; part < table.parts.size(); ++part) {
    options.push_back(options_of(table, base, part));
    parts.push_back(options.back().part);
  }
  parts.push_back({"values", {{base.rest_us, *base.squared_error}}});
  RUNG_TRY(auto frontier, precision_frontier(parts));
  for (PrecisionChoice& choice : frontier) {
    choice.options.pop_back();
    for (size_t part = 0; part < options.size(); ++part)
      choice.options[part] = options[part].forms[choice.options[part]];
    all.choices.push_back(std::move(choice));
    all.bases.push_back(index);
  }
  return {};
}

// Words between dots; the whole model has none.
size_t words_in(const std::string& scope) {
  return scope == "*" ? 0 : 1 + static_cast<size_t>(std::ranges::count(scope, '.'));
}

// The entries that cover a label of products of a kind: thousands of labels are covered alike.
struct Covered {
  ProductKind kind = ProductKind::weights;
  std::vector<bool> by;
  friend auto operator<=>(const Covered&, const Covered&) = default;  // NOLINT(modernize-use-nullptr)
};

// Returns whether products of that kind compute and store the same types by both.
bool alike(ProductKind kind, const LabelPrecision& a, const LabelPrecision& b) {
  if (a.values != b.values) return false;
  if (kind == ProductKind::attention) return a.attention == b.attention && a.cache == b.cache;
  return a.products == b.products && a.weights == b.weights && a.smooth == b.smooth && a.rotate == b.rotate &&
         a.percentile == b.percentile && a.outliers == b.outliers;
}

class Entries {
 public:
  Entries(Precision entries, const std::vector<ProductLaunch>& launches) : entries_(std::move(entries)) {
    std::set<std::pair<ProductKind, std::string_view>> labels;
    for (const ProductLaunch& launch : launches) {
      if (launch.labels.empty()) labels.emplace(launch.kind, "");
      for (const std::string& label : launch.labels) labels.emplace(launch.kind, label);
    }
    for (const auto& [kind, label] : labels) {
      Covered covered{kind, {}};
      for (const PartPrecision& entry : entries_) covered.by.push_back(entry.covers(label));
      covered_.insert(std::move(covered));
    }
  }

  // Leaves out every entry without which all labels have the same, the last ones first. `whole` is an entry for the
  // whole model that comes before all others.
  Precision fewest(const std::optional<PartPrecision>& whole) const {
    std::vector<bool> kept(entries_.size(), true);
    for (size_t i = kept.size(); i-- > 0;) {
      kept[i] = false;
      if (!gives_the_same(whole, kept)) kept[i] = true;
    }
    return of(whole, kept);
  }
  bool may_follow(const PartPrecision& whole) const {
    return gives_the_same(whole, std::vector<bool>(entries_.size(), true));
  }

 private:
  Precision of(const std::optional<PartPrecision>& whole, const std::vector<bool>& kept) const {
    Precision some;
    if (whole) some.push_back(*whole);
    for (size_t i = 0; i < entries_.size(); ++i)
      if (kept[i]) some.push_back(entries_[i]);
    return some;
  }
  LabelPrecision given(const std::optional<PartPrecision>& whole, std::vector<bool> kept,
                       const Covered& covered) const {
    for (size_t i = 0; i < kept.size(); ++i) kept[i] = kept[i] && covered.by[i];
    Precision some = of(whole, kept);
    for (PartPrecision& entry : some) entry.labels = "*";
    return precision_at(some, "");
  }
  bool gives_the_same(const std::optional<PartPrecision>& whole, const std::vector<bool>& kept) const {
    const std::vector<bool> all(entries_.size(), true);
    return std::ranges::all_of(covered_, [&](const Covered& covered) {
      return alike(covered.kind, given(whole, kept, covered), given(std::nullopt, all, covered));
    });
  }

  Precision entries_;
  std::set<Covered> covered_;
};

PartPrecision entry_of(const PrecisionTable& table, const MixedPrecision& mixture, size_t part) {
  PartPrecision entry;
  const PrecisionForm& form = table.forms[mixture.forms[part]];
  if (table.parts[part].kind == ProductKind::weights)
    form.apply(entry);
  else
    entry.attention = form.products, entry.cache = form.cache;
  return entry;
}

}  // namespace

double PrecisionTable::stake(size_t part, size_t form) const {
  double most = 0;
  for (const ValuesTimes& base : bases) {
    const double saved = base.part_us[part][0] - base.part_us[part][form];
    if (saved > most) most = saved;  // not if it was not measured
  }
  return most;
}

PrecisionChoice predicted(const PrecisionTable& table, const MixedPrecision& mixture) {
  const ValuesTimes& base = table.bases[mixture.base];
  PrecisionChoice sum{base.rest_us, base.squared_error.value_or(kNotMeasured), mixture.forms};
  for (size_t part = 0; part < mixture.forms.size(); ++part) {
    sum.us += base.part_us[part][mixture.forms[part]];
    sum.squared_error += table.squared_error[part][mixture.forms[part]];
  }
  return sum;
}

Result<MixedFrontier> mixed_frontier(const PrecisionTable& table) {
  MixedFrontier all, best;
  for (size_t base = 0; base < table.bases.size(); ++base) RUNG_CHECK(add_frontier(table, base, all));
  std::vector<size_t> order(all.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, [&](size_t a, size_t b) {
    return std::pair(all.choices[a].squared_error, all.choices[a].us) <
           std::pair(all.choices[b].squared_error, all.choices[b].us);
  });
  for (const size_t i : order) {
    if (best.size() > 0 && all.choices[i].us >= best.choices.back().us) continue;
    best.choices.push_back(std::move(all.choices[i]));
    best.bases.push_back(all.bases[i]);
  }
  return best;
}

Precision entries_of(const PrecisionTable& table, const MixedPrecision& mixture,
                     const std::vector<ProductLaunch>& launches) {
  Precision entries;
  for (size_t part = 0; part < table.parts.size(); ++part)
    for (const std::string& scope : table.parts[part].scopes) {
      entries.push_back(entry_of(table, mixture, part));
      entries.back().labels = scope;
    }
  std::ranges::stable_sort(entries, [](const PartPrecision& a, const PartPrecision& b) {
    return std::pair(words_in(a.labels), a.labels) < std::pair(words_in(b.labels), b.labels);
  });
  const DType values = table.bases[mixture.base].values;
  if (values != DType::f32) entries.insert(entries.begin(), {.labels = "*", .values = values});
  const Entries written(entries, launches);
  Precision fewest = written.fewest(std::nullopt);
  for (const PrecisionForm& form : table.forms) {
    PartPrecision whole{.labels = "*"};
    form.apply(whole);
    whole.attention = is_quantised(form.products) ? values : form.products;
    if (values != DType::f32) whole.values = values;
    if (!written.may_follow(whole)) continue;
    Precision other = written.fewest(whole);
    if (other.size() < fewest.size()) fewest = std::move(other);
  }
  return narrowest(fewest) == DType::f32 ? Precision{} : fewest;
}

}  // namespace rung
