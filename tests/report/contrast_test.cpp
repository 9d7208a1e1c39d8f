// Contrast as WCAG 2 computes it, from the page's own style sheet, for every colour that its elements get, in every
// theme.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <regex>
#include <set>
#include <sstream>

#include "report/advice/advice.hpp"
#include "report/html.hpp"
#include "report/page_reader.hpp"
#include "report/sample.hpp"

namespace rung {
namespace {

using testing::Element;
using testing::elements;

constexpr double kText = 4.5, kGraphics = 3;

struct Colour {
  double r = 0, g = 0, b = 0;  // 0 to 1
};

Colour colour_of(const std::string& hex) {
  std::string digits = hex.substr(1);
  if (digits.size() == 3) digits = {digits[0], digits[0], digits[1], digits[1], digits[2], digits[2]};
  const auto part = [&](size_t i) { return std::stoi(digits.substr(i * 2, 2), nullptr, 16) / 255.0; };
  return {part(0), part(1), part(2)};
}

double luminance(Colour c) {
  const auto linear = [](double x) { return x <= 0.04045 ? x / 12.92 : std::pow((x + 0.055) / 1.055, 2.4); };
  return 0.2126 * linear(c.r) + 0.7152 * linear(c.g) + 0.0722 * linear(c.b);
}

double contrast(Colour a, Colour b) {
  const double x = luminance(a), y = luminance(b);
  return (std::max(x, y) + 0.05) / (std::min(x, y) + 0.05);
}

Colour over(Colour top, double opacity, Colour below) {
  const auto mixed = [&](double a, double b) { return a * opacity + b * (1 - opacity); };
  return {mixed(top.r, below.r), mixed(top.g, below.g), mixed(top.b, below.b)};
}

using Names = std::map<std::string, std::string>;

struct Rule {
  std::string selector;
  Names declarations;
};

Names declarations_of(const std::string& text) {
  Names all;
  const std::regex one("\\s*([-a-z0-9]+)\\s*:\\s*([^;]+)");
  for (std::sregex_iterator at(text.begin(), text.end(), one), end; at != end; ++at) all[(*at)[1]] = (*at)[2];
  return all;
}

std::string without_spaces_around(const std::string& text) {
  const size_t first = text.find_first_not_of(" \t\r\n"), last = text.find_last_not_of(" \t\r\n");
  return first == text.npos ? "" : text.substr(first, last - first + 1);
}

// Rules without those of @media, which stand in `media` by what they ask for.
struct Sheet {
  std::vector<Rule> rules;
  std::map<std::string, std::vector<Rule>> media;

  static std::vector<Rule> parse(const std::string& css, Sheet* sheet) {
    std::vector<Rule> rules;
    for (size_t at = 0; (at = css.find('{', at)) != css.npos;) {
      const size_t from = css.find_last_of("{};", at - 1);
      std::string selector = css.substr(from == css.npos ? 0 : from + 1, at - (from == css.npos ? 0 : from + 1));
      selector = without_spaces_around(selector);
      if (selector.starts_with("@media")) {
        int depth = 1;
        size_t end = at + 1;
        for (; end < css.size() && depth > 0; ++end) depth += css[end] == '{' ? 1 : css[end] == '}' ? -1 : 0;
        if (sheet) sheet->media[selector] = parse(css.substr(at + 1, end - at - 2), nullptr);
        at = end;
        continue;
      }
      const size_t end = css.find('}', at);
      rules.push_back({selector, declarations_of(css.substr(at + 1, end - at - 1))});
      at = end;
    }
    return rules;
  }
  explicit Sheet(const std::string& css) { rules = parse(css, this); }

  const Rule& root(const std::vector<Rule>& list) const {
    return *std::find_if(list.begin(), list.end(), [](const Rule& rule) { return rule.selector == ":root"; });
  }
};

// The last compound of a selector, as "rect.left": ancestors are not asked.
bool fits(const std::string& selector, const std::string& tag, const std::string& classes) {
  std::string last = selector.substr(selector.find_last_of(" >") + 1);
  if (last.find(':') != last.npos || last.find('[') != last.npos || last.empty()) return false;
  std::istringstream parts(last);
  std::string of_tag, of_class;
  if (std::getline(parts, of_tag, '.') && !of_tag.empty() && of_tag[0] != '*' && of_tag != tag) return false;
  while (std::getline(parts, of_class, '.'))
    if ((" " + classes + " ").find(" " + of_class + " ") == std::string::npos) return false;
  return true;
}

class Theme {
 public:
  Theme(const Sheet& sheet, const std::string& name) : sheet_(&sheet) {
    variables_ = sheet.root(sheet.rules).declarations;
    for (const auto& [asked, rules] : sheet.media) {
      const bool is_dark = asked.find("dark") != asked.npos, is_print = asked == "@media print";
      if ((name == "dark" && is_dark) || (name == "print" && is_print))
        for (const auto& [variable, value] : sheet.root(rules).declarations) variables_[variable] = value;
    }
  }
  Colour named(const std::string& name) const { return colour_of(variables_.at("--" + name)); }

  // Of later rules before earlier ones, and of more classes before fewer, as a browser takes them.
  Names style_of(const std::string& tag, const std::string& classes) const {
    Names style;
    for (int weight = 0; weight <= 3; ++weight)
      for (const Rule& rule : sheet_->rules) {
        std::istringstream selectors(rule.selector);
        for (std::string selector; std::getline(selectors, selector, ',');) {
          if (std::min<long>(3, std::count(selector.begin(), selector.end(), '.')) != weight) continue;
          if (fits(without_spaces_around(selector), tag, classes))
            for (const auto& [property, value] : rule.declarations) style[property] = value;
        }
      }
    return style;
  }
  // Colours that a declaration names: var(--c,...) is the class's own.
  std::vector<Colour> colours_of(const Names& style, const std::string& property) const {
    std::vector<Colour> colours;
    auto value = style.find(property);
    if (value == style.end()) return colours;
    const std::regex variable("var\\(--([a-z0-9]+)(,var\\(--([a-z0-9]+)\\))?\\)");
    for (std::sregex_iterator at(value->second.begin(), value->second.end(), variable), end; at != end; ++at) {
      std::string name = (*at)[1];
      if (name == "c") {
        auto own = style.find("--c");
        if (own == style.end() && !(*at)[3].matched) continue;
        name = own == style.end() ? std::string((*at)[3]) : own->second.substr(6, own->second.size() - 7);
      }
      colours.push_back(named(name));
    }
    return colours;
  }

 private:
  const Sheet* sheet_;
  Names variables_;
};

class Contrast : public ::testing::TestWithParam<const char*> {
 protected:
  std::vector<std::string> pages{render_html(testing::minilm_climb()), render_html(testing::empty_climb()),
                                 render_html(testing::distinct_climb())};
  Sheet sheet{elements(pages[0], {"style"}).at(0).inner};
  Theme theme{sheet, GetParam()};
  Colour page = theme.named("page");

  // Of a shape: what it is filled, drawn round or shaded with, as it looks on the page.
  double best_on_page(const std::string& tag, const std::string& classes) const {
    const Names style = theme.style_of(tag, classes);
    double best = 1;
    for (const char* property : {"fill", "stroke", "background", "box-shadow", "border-left"}) {
      const auto opacity = style.find(std::string(property) + "-opacity");
      const double share = opacity == style.end() ? 1 : std::stod(opacity->second);
      for (const Colour& c : theme.colours_of(style, property))
        best = std::max(best, contrast(over(c, share, page), page));
    }
    return best;
  }
};

TEST_P(Contrast, OfEveryShapeIsAtLeastThree) {
  // The ruled background says nothing; a halo is there to be the page's colour.
  const std::set<std::string> says_nothing{"grid", "halo"};
  std::set<std::pair<std::string, std::string>> seen;
  for (const std::string& text : pages)
    for (const char* tag : {"rect", "line", "circle"})
      for (const Element& shape : elements(text, {tag})) seen.emplace(tag, shape.attribute("class"));
  for (const std::string& text : pages)
    for (const Element& key : elements(text, {"span"}, "key")) seen.emplace("span", key.attribute("class"));
  for (const char* css : {"loss", "rest cut", "c3 pale"}) seen.emplace("rect", css);
  ASSERT_GT(seen.size(), 25u);
  for (const auto& [tag, css] : seen)
    if (!says_nothing.contains(css)) EXPECT_GE(best_on_page(tag, css), kGraphics) << tag << " of class " << css;
}

TEST_P(Contrast, OfTextIsAtLeastFourPointFive) {
  size_t texts = 0;
  for (const Rule& rule : sheet.rules) {
    const auto background = theme.colours_of(rule.declarations, "background");
    for (const Colour& c : theme.colours_of(rule.declarations, "color")) {
      ++texts;
      EXPECT_GE(contrast(c, background.empty() ? page : background.front()), kText) << rule.selector;
      if (background.empty()) EXPECT_GE(contrast(c, theme.named("raised")), kText) << rule.selector << " in a block";
    }
    if (rule.selector.find("text") == rule.selector.npos) continue;
    for (const Colour& c : theme.colours_of(rule.declarations, "fill")) {
      ++texts;
      if (rule.selector == "svg text.inside")
        for (int i = 0; i < 7; ++i)
          EXPECT_GE(contrast(c, theme.named("c" + std::to_string(i))), kText) << rule.selector << " on c" << i;
      else
        EXPECT_GE(contrast(c, page), kText) << rule.selector;
    }
  }
  EXPECT_GT(texts, 20u);
}

TEST_P(Contrast, OfWhatTouchesIsAtLeastThree) {
  for (auto [a, b] : {std::pair{"gain", "rest"}, {"gain", "left"}, {"loss", "rest"}, {"floor", "page"}})
    EXPECT_GE(contrast(theme.named(a), theme.named(b)), kGraphics) << a << " beside " << b;
  for (int i = 0; i < 7; ++i) {
    const std::string css = "c" + std::to_string(i);
    const Names pale = theme.style_of("rect", css + " pale");
    const Colour c = theme.named(css), beside = over(c, std::stod(pale.at("fill-opacity")), page);
    EXPECT_GE(contrast(c, beside), kGraphics) << css << " beside its pale part";
  }
}

INSTANTIATE_TEST_SUITE_P(InEveryTheme, Contrast, ::testing::Values("light", "dark", "print"),
                         [](const auto& theme) { return std::string(theme.param); });

// Lines over bars of any colour: each has a halo under it, which the test above holds to the page's colour.
TEST(FloorLine, HasAHaloWhereverItIsDrawn) {
  const std::string page = render_html(testing::minilm_climb());
  size_t floors = 0;
  for (const Element& drawing : elements(page, {"svg"}, "strip")) {
    const std::vector<Element> lines = elements(drawing.inner, {"line"});
    for (size_t i = 0; i < lines.size(); ++i) {
      if (!lines[i].is("floor")) continue;
      ++floors;
      ASSERT_GT(i, 0u);
      EXPECT_TRUE(lines[i - 1].is("halo"));
      EXPECT_EQ(lines[i - 1].attribute("x1"), lines[i].attribute("x1"));
    }
  }
  EXPECT_GT(floors, 5u);
}

TEST(ContrastOfWcag, IsThatOfItsExamples) {
  EXPECT_NEAR(contrast(colour_of("#000"), colour_of("#fff")), 21, 1e-9);
  EXPECT_NEAR(contrast(colour_of("#777777"), colour_of("#fff")), 4.478, 1e-3);
}

}  // namespace
}  // namespace rung
