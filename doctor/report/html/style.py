"""The style sheet of the page: quiet type, one measure, colours that mean the same in light and dark."""

from __future__ import annotations

CSS = """
:root{color-scheme:light dark;
--paper:#fbfbfa;--raised:#fff;--ink:#1c1e21;--soft:#5b6168;--line:#e2e3e1;--code:#f1f2f0;
--error:#b3261e;--warning:#855300;--note:#0b5a7d;--ok:#1c6b3a;--unknown:#5b6168;--likely:#5b6168;
--weights:#3f66a8;--kv:#3d8d6c;--state:#4fa5b8;--compute:#cf9a36;--overhead:#9297a0;--free:#e6e7e5;
--first:#3f66a8;--second:#c27a1c;--grid:#e4e5e3}
@media (prefers-color-scheme:dark){:root{
--paper:#141618;--raised:#1b1e21;--ink:#e6e7e9;--soft:#a0a7af;--line:#2f3338;--code:#24282c;
--error:#ff938a;--warning:#e9b65c;--note:#7fc6e6;--ok:#7fcf9c;--unknown:#a0a7af;--likely:#a0a7af;
--weights:#7ea3e6;--kv:#6cc49b;--state:#79cfe0;--compute:#e5b85c;--overhead:#8a9099;--free:#33383d;
--first:#7ea3e6;--second:#e9a95c;--grid:#2d3136}}
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%;text-size-adjust:100%}
body{margin:0;background:var(--paper);color:var(--ink);
font:16px/1.55 system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue","Noto Sans","PingFang SC","Microsoft YaHei",
"Noto Sans CJK SC",sans-serif;overflow-wrap:anywhere}
main{max-width:47rem;margin:0 auto;padding:2.75rem 1.25rem 4rem}
.over{margin:0 0 .75rem;color:var(--soft);font-size:.875rem}
h1{margin:0;font-size:1.75rem;line-height:1.25;font-weight:650;letter-spacing:-.012em;text-wrap:balance}
h2{margin:3rem 0 .75rem;font-size:1.125rem;line-height:1.35;font-weight:650}
h3{margin:1.5rem 0 .375rem;font-size:.875rem;line-height:1.4;font-weight:600;color:var(--soft)}
p{margin:.375rem 0}
ul,ol{margin:.375rem 0;padding:0;list-style:none}
a{color:inherit;text-underline-offset:.15em;text-decoration-color:var(--soft)}
:focus-visible{outline:2px solid var(--note);outline-offset:3px;border-radius:3px}
code,pre{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono","Liberation Mono",monospace,
"PingFang SC","Microsoft YaHei","Noto Sans CJK SC";font-size:.875em}
code{background:var(--code);border-radius:3px;padding:.1em .3em}
pre{margin:.5rem 0;padding:.75rem .875rem;background:var(--code);border-radius:6px;white-space:pre-wrap;line-height:1.5}
pre code{background:none;padding:0;font-size:1em;-webkit-user-select:all;user-select:all}
.state{font-weight:650}
.error{color:var(--error)}.warning{color:var(--warning)}.note{color:var(--note)}.ok{color:var(--ok)}
.quiet,.unknown,.small{color:var(--soft)}.small{font-size:.875rem}
.about{margin:.5rem 0 0;color:var(--soft);font-size:.875rem}
.first{margin:1.5rem 0 0;padding:1rem 1.25rem 1.125rem;background:var(--raised);border:1px solid var(--line);border-radius:8px}
.first h3{margin-top:0;color:var(--ink)}
.n{white-space:nowrap}
.first p{font-size:1.0625rem}
.first p.small{font-size:.875rem}
.price{color:var(--soft);font-size:.875rem}
.lines{display:grid;grid-template-columns:fit-content(13rem) 1fr;column-gap:.875rem}
.lines li{padding:.25rem 0;display:grid;grid-template-columns:subgrid;grid-column:1/-1}
.lines li+li{border-top:1px solid var(--line)}
.lines .where{color:var(--soft);font-size:.8125rem;line-height:1.7;font-variant-numeric:tabular-nums}
.lines q{quotes:none;font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;font-size:.8125rem;
line-height:1.7;grid-column:2}
.lines q:only-child{grid-column:1/-1}
.ways li+li{margin-top:.875rem}
details{border-top:1px solid var(--line)}
details:last-of-type{border-bottom:1px solid var(--line)}
summary{padding:.75rem 0;cursor:pointer;list-style:none;display:grid;grid-template-columns:1fr auto;column-gap:1rem;
align-items:baseline}
summary::-webkit-details-marker{display:none}
summary::after{content:"";width:.45rem;height:.45rem;border:solid var(--soft);border-width:0 1.5px 1.5px 0;
transform:translateY(-.15rem) rotate(45deg);margin-right:.25rem}
details[open]>summary::after{transform:translateY(.05rem) rotate(225deg)}
summary b{font-weight:600}
.inside{padding:0 0 1.25rem}
.inside>:first-child{margin-top:0}
.looked{border-top:1px solid var(--line)}
.looked li{padding:.5rem 0;border-bottom:1px solid var(--line);display:grid;
grid-template-columns:1.25rem 5rem 1fr;column-gap:.5rem;font-size:.9375rem}
.looked+details{border-top:0}
.looked .name{font-weight:600}
.looked .words{grid-column:3}
.remark{margin:.5rem 0 1rem;color:var(--soft);font-size:.875rem}
figure{margin:1rem 0 0}
figure+figure{margin-top:1.75rem}
figure+details{margin-top:1.5rem}
figcaption{font-size:.9375rem;font-weight:600;display:flex;flex-wrap:wrap;justify-content:space-between;column-gap:1rem}
figcaption .small{font-weight:400}
.bar{display:block;width:100%;height:1.375rem;margin:.5rem 0 .375rem;border-radius:4px;overflow:hidden;background:var(--free)}
.key{display:flex;flex-wrap:wrap;gap:.125rem 1.125rem;font-size:.875rem;color:var(--soft)}
.key li{white-space:nowrap}
.key data{color:var(--ink);font-variant-numeric:tabular-nums}
.dot{display:inline-block;width:.625rem;height:.625rem;border-radius:2px;margin-right:.4rem;vertical-align:baseline}
.weights{--of:var(--weights)}.kv{--of:var(--kv)}.state-part{--of:var(--state)}.compute{--of:var(--compute)}
.overhead{--of:var(--overhead)}.one{--of:var(--first)}.two{--of:var(--second)}
rect.part,.mark{fill:var(--of)}.dot{background:var(--of)}
.plot{padding:.75rem .75rem 2.5rem 3rem}
.plot svg{display:block;overflow:visible}
.plot text{font-size:12px;fill:var(--soft);font-variant-numeric:tabular-nums}
.plot .grid{stroke:var(--grid);stroke-width:1}
.plot .axis{stroke:var(--soft);stroke-width:1}
.plot .path{stroke:var(--of);stroke-width:1.75;stroke-linecap:round;fill:none}
.plot .faint{stroke-opacity:.35}
table{border-collapse:collapse;width:100%;font-size:.875rem;font-variant-numeric:tabular-nums}
th,td{padding:.3rem .75rem .3rem 0;text-align:right;border-bottom:1px solid var(--line);vertical-align:baseline}
th{font-weight:600;color:var(--soft)}
th:first-child,td:first-child{text-align:left}th:last-child,td:last-child{padding-right:0}
.scroll{overflow-x:auto}
.rows div{white-space:pre-wrap}
.rows .t{font-weight:600}
.rows .cells{display:grid;grid-template-columns:7.5rem 1fr;column-gap:.5rem;padding:.1rem 0}
.rows .mono{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;font-size:.875em}
.rows>:first-child{margin-top:1.25rem}
.rows .h{margin-top:1.25rem;color:var(--soft);font-weight:600;font-size:.875rem}
.rows .gap{height:1rem}
.rows figure{margin:.75rem 0 1rem}
footer{margin-top:3.5rem;color:var(--soft);font-size:.8125rem}
@media (max-width:36rem){
main{padding:1.75rem 1rem 3rem}h1{font-size:1.4375rem}h2{margin-top:2.5rem}
.first{padding:.875rem 1rem 1rem;margin-left:-.25rem;margin-right:-.25rem}
.looked li{grid-template-columns:1.25rem 1fr}.looked .words{grid-column:2}
.lines,.lines li{grid-template-columns:1fr}.lines q{grid-column:1}
.plot{padding-left:2.5rem}}
@media print{
:root{--paper:#fff;--raised:#fff;--ink:#000;--soft:#444;--line:#ccc;--code:#f3f3f3;--free:#e6e7e5;--grid:#ddd;
--error:#b3261e;--warning:#855300;--note:#0b5a7d;--ok:#1c6b3a;--unknown:#444;
--weights:#3f66a8;--kv:#3d8d6c;--state:#4fa5b8;--compute:#cf9a36;--overhead:#9297a0;--first:#3f66a8;--second:#c27a1c}
*{-webkit-print-color-adjust:exact;print-color-adjust:exact}
main{max-width:none;padding:0}body{font-size:10.5pt}
details::details-content{content-visibility:visible!important;display:block!important;block-size:auto!important;
height:auto!important;opacity:1!important}
summary::after{display:none}
figure,.first,li,tr,pre{break-inside:avoid}h2,h3,summary{break-after:avoid}}
@media (prefers-reduced-motion:no-preference){summary::after{transition:transform .12s}}
"""
