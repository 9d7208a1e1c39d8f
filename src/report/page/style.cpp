// The page's style sheet: one accent, quiet greys, seven kinds of work; light, dark, narrow and on paper.
// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "report/page/sections.hpp"

namespace rung::report {
namespace {

// The contrast is 4.5:1 or more for text, and 3:1 for meaningful parts of drawings, in light, dark and on paper: a pale
// fill has an outline of that contrast (--edge), and a line that crosses bars has a halo of the page's colour.
constexpr std::string_view kColours = R"css(
:root { color-scheme: light dark;
  --page:#fcfcfb; --ink:#1a1e23; --soft:#59626c; --rule:#e3e6e9; --track:#eef0f2; --rest:#cdd4db; --raised:#f4f6f7;
  --gain:#0d7a6f; --left:#a3d5cf; --bad:#b3261e; --loss:#b3261e; --edge:#87909a; --floor:#b06a00; --on:#fff;
  --c0:#3a6db3; --c1:#7d57a8; --c2:#0d7d72; --c3:#99660f; --c4:#b14a67; --c5:#556069; --c6:#6c757e; }
@media screen and (prefers-color-scheme: dark) { :root {
  --page:#14171a; --ink:#e9ecef; --soft:#a0a9b3; --rule:#2b3036; --track:#1f2428; --rest:#434c55; --raised:#1c2024;
  --gain:#3fb8a8; --left:#235a54; --bad:#ff8a80; --loss:#ff8a80; --edge:#66707a; --floor:#e0a03c; --on:#0f1214;
  --c0:#6d9fe0; --c1:#b08fd8; --c2:#46b3a6; --c3:#d3a04d; --c4:#e0829b; --c5:#8b96a1; --c6:#aab3bc; } }
.c0{--c:var(--c0)} .c1{--c:var(--c1)} .c2{--c:var(--c2)} .c3{--c:var(--c3)} .c4{--c:var(--c4)} .c5{--c:var(--c5)}
.c6{--c:var(--c6)}
)css";

constexpr std::string_view kText = R"css(
* { box-sizing:border-box }
html { -webkit-text-size-adjust:100% }
body { margin:0; background:var(--page); color:var(--ink); font:15px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,
  "Helvetica Neue",Arial,sans-serif; font-variant-numeric:tabular-nums lining-nums }
main { max-width:1104px; margin:0 auto; padding:40px 32px 72px }
section { margin-top:60px }
h1 { font-size:32px; line-height:1.2; letter-spacing:-.015em; margin:2px 0 4px; overflow-wrap:anywhere; font-weight:650 }
h2 { font-size:21px; letter-spacing:-.01em; margin:0 0 2px; font-weight:650 }
h3 { font-size:13px; margin:0 0 6px; color:var(--soft); font-weight:600 }
p { margin:0 }
.brand { color:var(--gain); font-weight:700; letter-spacing:.02em }
.setting,.shapes,.how,.caption,.none { color:var(--soft) }
.shapes { font:13px/1.5 ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace; overflow-wrap:anywhere }
.how { max-width:78ch; margin-bottom:18px }
.caption { font-size:13px; margin-top:10px } .none { font-size:13px }
.result { font-size:52px; line-height:1.15; letter-spacing:-.025em; margin:26px 0 14px; font-weight:400 }
.result .was,.result .arrow { color:var(--soft) } .result .now { font-weight:700 }
.result .unit { font-size:.5em; letter-spacing:0; font-weight:500 }
.speedup { display:inline-block; margin-left:22px; font-size:26px; letter-spacing:-.01em; font-weight:650; white-space:nowrap }
.good { color:var(--gain) } .bad { color:var(--bad) }
.proof { margin-left:12px; font-size:15px } .claim { margin-top:10px; font-size:15px; overflow-wrap:anywhere }
.verdict { margin-top:18px; font-size:15px; overflow-wrap:anywhere } p.verdict.bad { border-left:3px solid; padding-left:12px }
p.verdict.good { color:var(--ink) } p.verdict.good b { color:var(--gain) }
.facts { display:flex; flex-wrap:wrap; gap:14px 44px; margin:24px 0 0; padding-top:18px; border-top:1px solid var(--rule) }
.facts dt { color:var(--soft); font-size:13px } .facts dd { margin:0; font-size:19px; font-weight:600 }
.key { display:inline-block; width:11px; height:11px; border-radius:2px; margin:0 6px 0 16px; background:var(--c,var(--rest));
  vertical-align:-1px } .caption .key:first-child,th .key { margin-left:0 }
.entry { white-space:nowrap; margin-right:16px } .caption .entry:first-child .key { margin-left:0 }
.key.rest { box-shadow:inset 0 0 0 1px var(--edge) } .key.gain { background:var(--gain) } .key.loss { background:var(--loss) }
.key.left { background:var(--left); box-shadow:inset 0 0 0 1px var(--gain) } .key.track { background:var(--track);
  box-shadow:inset 0 0 0 1px var(--edge) } .key.refused { background:repeating-linear-gradient(45deg,var(--edge) 0 2px,transparent
  2px 4px); box-shadow:inset 0 0 0 1px var(--edge) } .key.floorline { width:0; height:13px; border-left:2px dotted var(--floor);
  border-radius:0; background:none; margin-right:8px } .key.solid { background:var(--soft) } .key.paled { background:var(--rest);
  box-shadow:inset 0 0 0 1px var(--soft); margin-left:10px }
.tag { font-size:12px; font-weight:500; color:var(--soft); white-space:nowrap }
.sr { position:absolute; width:1px; height:1px; overflow:hidden; clip-path:inset(50%) }
)css";

constexpr std::string_view kTables = R"css(
table { width:100%; border-collapse:collapse; font-size:14px } .scroll { overflow-x:auto }
th,td { padding:5px 0 5px 18px; text-align:left; vertical-align:top; font-weight:400 }
th:first-child,td:first-child { padding-left:0 }
thead th { color:var(--soft); font-size:12.5px; border-bottom:1px solid var(--rule); vertical-align:bottom; white-space:nowrap }
tbody tr { border-bottom:1px solid var(--rule) } tbody tr:last-child { border-bottom:0 }
.number { text-align:right; white-space:nowrap } tbody th.name { font-weight:600; overflow-wrap:anywhere }
td.chart { vertical-align:middle } .interval,.error { color:var(--soft) }
.sort { all:unset; cursor:pointer } .sort:hover { color:var(--ink) }
:focus-visible,.sort:focus-visible { outline:2px solid var(--gain); outline-offset:3px; border-radius:2px }
th[aria-sort=descending] .sort::after { content:" ↓" } th[aria-sort=ascending] .sort::after { content:" ↑" }
.ladder .name { width:148px } .ladder tbody .tag { display:block } .ladder tbody tr { border:0 } .phone { display:none }
.ladder th,.ladder td { padding-top:0; padding-bottom:9px } .ladder thead th { padding-bottom:4px }
.ladder tbody tr:first-child>* { padding-top:8px }
.ladder td.number { line-height:26px } .ladder tbody th { line-height:1.3; padding-top:3px } .ladder .ms { font-weight:600 }
.ladder .chart { padding-left:0; width:auto } .why { display:block; font-size:13px; line-height:1.35; color:var(--soft);
  overflow-wrap:anywhere } .ladder .strip { margin-bottom:1px }
.kept .tag { color:var(--gain) } .rejected th,.rejected td,.rejected b,.untimed th,.untimed td { color:var(--soft);
  font-weight:400 } .ladder .rejected .ms { font-weight:400 }
.bars .name { width:168px } .bars td { vertical-align:middle } .bars th { vertical-align:middle } .unclear td { color:var(--soft) }
.ops .name { width:27% } .ops th.chart { font-size:12.5px } .ops td { vertical-align:middle } .op,.ops .problem { display:block }
.ops .chart { width:20% } .ops .number { padding-left:12px }
.problem,.kernel,.params { font:12.5px/1.45 ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;
  color:var(--soft); overflow-wrap:anywhere; font-weight:400 } thead .kernel { font-family:inherit }
.compact { font-size:13.5px } .compact th,.compact td { padding-top:3px; padding-bottom:3px } .compact .chart { width:24% }
.compact tbody th.name { font-weight:500 } .compact th.name.kernel { color:var(--ink) } .chosen th,.chosen td { font-weight:600 }
.problem b { font-weight:600; color:var(--ink) }
#categories th { white-space:nowrap } #categories .compact { max-width:720px; margin-top:18px }
.verdict-text { overflow-wrap:anywhere }
.stack { display:grid; grid-template-columns:64px 1fr 76px; align-items:center; gap:12px; font-size:14px } .stack-total {
  text-align:right; font-weight:600 } .stack-name { color:var(--soft) }
.columns { display:grid; grid-template-columns:repeat(auto-fit,minmax(290px,1fr)); gap:28px 44px } .pairs th { color:var(--soft);
  padding-right:12px } .pairs td { text-align:right; overflow-wrap:anywhere; min-width:7em } .pairs { font-size:13.5px }
details { border-bottom:1px solid var(--rule); padding:8px 0 } details[open] { padding-bottom:16px }
details p,details ul { margin:6px 0 8px 17px } details table { margin-left:17px; width:calc(100% - 17px) }
summary { cursor:pointer; overflow-wrap:anywhere; padding-left:17px; text-indent:-17px } summary::marker { color:var(--soft) }
.sum { color:var(--soft); font-size:14px; margin-left:10px } .notes { padding-left:18px; font-size:14px }
summary .problem { font-size:13.5px; color:var(--ink) } summary .kernel { margin-left:10px; color:var(--gain) }
details.list { border:0; margin-top:10px; color:var(--soft) } details.list table { color:var(--ink) }
.skip { position:absolute; left:-999px } .skip:focus { position:static } a { color:var(--gain) }
.contents ul { columns:3 190px; list-style:none; margin:28px 0 0; padding:16px 0 0; border-top:1px solid var(--rule); font-size:14px }
.contents li { padding:2px 0 } .step { font-size:15px; margin:20px 0 2px; color:var(--ink) } .first { font-size:18px; margin:10px 0 }
pre.command { position:relative; padding:9px 76px 9px 14px; margin:6px 0 10px } pre.command button { position:absolute; right:8px;
  top:7px; font:inherit; font-size:12px; color:var(--ink); background:var(--page); border:1px solid var(--edge); border-radius:4px }
pre { background:var(--raised); padding:16px 18px; border-radius:6px; overflow-x:auto; font:13px/1.6 ui-monospace,
  SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace; margin:0; white-space:pre-wrap; overflow-wrap:anywhere }
)css";

constexpr std::string_view kCharts = R"css(
svg { display:block } .strip { width:100%; overflow:visible } .plot { width:100%; height:auto; overflow:visible }
.defs { position:absolute } pattern rect.hatch { fill:var(--edge) }
svg text { fill:var(--soft); font-size:12px; font-family:inherit } .middle { text-anchor:middle } .end { text-anchor:end }
rect { fill:var(--c,var(--rest)) } rect.base { fill:var(--soft) } rect.gain { fill:var(--gain) } rect.loss { fill:var(--loss) }
rect.track { fill:var(--track); stroke:var(--edge) } rect.left { fill:var(--left); stroke:var(--gain) }
rect.rest { fill:var(--rest); stroke:var(--edge) } rect.refused { fill:url(#hatch); stroke:var(--edge) }
rect.dim,rect.cut { fill-opacity:.45 } rect.pale { fill-opacity:.28; stroke:var(--c) }
rect.part { stroke:var(--page); stroke-width:1.5 }
line { stroke-width:1 } line.grid { stroke:var(--rule) } line.whisker { stroke:var(--ink); stroke-width:1.25 }
line.zero { stroke:var(--soft) } line.floor { stroke:var(--floor); stroke-width:2; stroke-dasharray:3 2 }
line.halo { stroke:var(--page); stroke-width:5 } line.median { stroke:var(--ink); stroke-width:2.5 }
line.roof { stroke:var(--ink); stroke-width:1.5 }
svg text.inside { fill:var(--on); font-weight:600; font-size:12.5px } svg text.axis { font-size:12px }
svg text.roof-name { fill:var(--ink); font-weight:600 } svg text.dot-name { fill:var(--ink) }
svg text.roof-name,svg text.dot-name { paint-order:stroke; stroke:var(--page); stroke-width:3.5px; stroke-linejoin:round }
circle.dot { fill:var(--c); fill-opacity:.82; stroke:var(--page); stroke-width:1.5 } circle.dot:hover { fill-opacity:1;
  stroke:var(--ink) } .for-narrow { display:none }
#tip { position:fixed; z-index:9; max-width:330px; padding:8px 11px; border-radius:5px; background:var(--ink); color:var(--page);
  font-size:13px; line-height:1.4; pointer-events:none; overflow-wrap:anywhere } #tip[hidden] { display:none }
)css";

constexpr std::string_view kMedia = R"css(
@media (max-width:720px) {
  main { padding:24px 17px 48px } section { margin-top:46px } h1 { font-size:25px } .result { font-size:38px; margin-top:20px }
  .speedup { display:block; margin:4px 0 0; font-size:22px } .wide,.for-wide { display:none } .for-narrow { display:block;
  max-width:520px } th,td { padding-left:10px } .facts { gap:12px 30px } .facts dd { font-size:17px }
  .ladder thead { position:absolute; width:1px; height:1px; overflow:hidden; clip-path:inset(50%) } .ladder,.ladder tbody {
  display:block } .phone { display:inline; font-weight:400; color:var(--soft) }
  .ladder tr { display:grid; grid-template-columns:1fr auto 78px; padding:8px 0 10px; border-bottom:1px solid var(--rule)!important }
  .ladder tr:last-child { border-bottom:0!important } .ladder th.name,.ladder td,.ladder tbody tr:first-child>* { padding:0;
  width:auto } .ladder tbody .tag { display:inline; margin-left:5px } .ladder .chart { grid-row:2; grid-column:1/-1 } .ladder td.number { line-height:1.5 }
  .ladder .interval,.ladder .kernels,.ladder .error { display:none } .bars .name { width:96px } .ops .name { width:48% }
  .sum { display:block; margin-left:0; text-indent:0 } summary .kernel { margin-left:0; text-indent:0; display:block }
  .stack { grid-template-columns:46px 1fr; } .stack-total { display:none } .compact { font-size:13px } }
@media print {
  :root { --page:#fff; --ink:#000; --soft:#444; --rule:#ccc } body { font-size:12px } main { max-width:none; padding:0 }
  section { margin-top:28px; break-inside:auto } h2 { break-after:avoid } tr,details,.plot { break-inside:avoid } #tip,.contents,.skip,
  pre.command button { display:none } * { print-color-adjust:exact; -webkit-print-color-adjust:exact } table { font-size:11px } .scroll { overflow:visible } }
)css";

}  // namespace

std::string_view style_sheet() {
  static const std::string sheet =
      std::string(kColours) + std::string(kText) + std::string(kTables) + std::string(kCharts) + std::string(kMedia);
  return sheet;
}

}  // namespace rung::report
