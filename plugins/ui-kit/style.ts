/**
 * Style of pages, on a screen and on paper.
 *
 * Invariants: nothing is fetched; text keeps a contrast of at least 4.5 on its ground and drawings of 3, in light and
 * in dark; everything shown by colour is shown by shape or words as well; `data-theme` on the root overrides the
 * preference of the system.
 */

const light =
  "color-scheme:light;--bg:#fff;--card:#f6f7f9;--fg:#191c20;--soft:#555e69;--rule:#e3e7eb;--accent:#1d5bb8;--accent-fill:#1d5bb81f;--gain:#0b6b38;--loss:#b3261e;--loss-fill:#b3261e26;--warn:#7a4b00;--warnbg:#fff4dc;--buy:#1d5bb8;--sell:#b4450b;--buy-fill:#1d5bb81c;--sell-fill:#b4450b1c;--price:#5b6672;--rose:#3f6b57;--fell:#8a5a56;--c1:#1d5bb8;--c2:#9a6700;--c3:#6b46c1;--c4:#0f766e;--c4-fill:#0f766e26;--c5:#b3266d;--c6:#4d5761;--up1:#e3f4ea;--up2:#c9ead6;--up3:#aadfbf;--up4:#8bd3a7;--down1:#fdebe8;--down2:#fad5cf;--down3:#f6bdb5;--down4:#f2a59a";
const dark =
  "color-scheme:dark;--bg:#121518;--card:#1b2025;--fg:#e7eaed;--soft:#a7b0ba;--rule:#272d33;--accent:#79b0ff;--accent-fill:#79b0ff24;--gain:#57cc93;--loss:#ff938a;--loss-fill:#ff938a2b;--warn:#ffcf70;--warnbg:#33270b;--buy:#79b0ff;--sell:#ffa968;--buy-fill:#79b0ff22;--sell-fill:#ffa96822;--price:#98a4b0;--rose:#84bfa0;--fell:#c98f89;--c1:#79b0ff;--c2:#f2c14e;--c3:#b79cf7;--c4:#5fc9c9;--c4-fill:#5fc9c92b;--c5:#ff9bc8;--c6:#b4bdc7;--up1:#17301f;--up2:#1c4029;--up3:#205133;--up4:#24633d;--down1:#3a1e1b;--down2:#4e2521;--down3:#632c27;--down4:#78332d";

/** Style of the pages of reports. */
export const style = `
:root{${light}}
@media (prefers-color-scheme:dark){:root:not([data-theme=light]){${dark}}}
:root[data-theme=dark]{${dark}}
*{box-sizing:border-box}
body{margin:0;background:var(--bg);color:var(--fg);font:15px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Liberation Sans",sans-serif;font-variant-numeric:tabular-nums;-webkit-text-size-adjust:100%}
main{max-width:1360px;margin:0 auto;padding:24px 24px 56px}
h1{font-size:1.5rem;line-height:1.25;margin:0 0 4px;overflow-wrap:anywhere}
h2{font-size:1.06rem;margin:36px 0 10px;padding-bottom:5px;border-bottom:1px solid var(--rule)}
h3{font-size:.95rem;margin:20px 0 6px}
p{margin:6px 0;max-width:78ch}
.soft,caption{color:var(--soft)}
.hash,.id{overflow-wrap:anywhere;font-family:ui-monospace,Menlo,Consolas,"Liberation Mono",monospace;font-size:.82rem}
.warn{margin:14px 0 0;padding:9px 14px;border-left:4px solid var(--warn);background:var(--warnbg);color:var(--warn);border-radius:3px;overflow-wrap:anywhere;max-width:none}
.tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(148px,1fr));gap:10px;margin:20px 0 0;padding:0}
.tile{background:var(--card);border:1px solid var(--rule);border-radius:6px;padding:10px 13px;min-width:0;container-type:inline-size;overflow-wrap:anywhere}
.tile dt{color:var(--soft);font-size:.82rem}.tile dd{margin:0;font-size:clamp(.9rem,10cqi,1.12rem);font-weight:600}.tile dd small{display:block;font-size:.8rem;font-weight:400;color:var(--soft)}
.gain{color:var(--gain)}.loss{color:var(--loss)}.buy{color:var(--buy)}.sell{color:var(--sell)}
.pair{display:grid;grid-template-columns:1fr 1fr;gap:4px 32px}
.scroll{overflow-x:auto;margin:8px 0}
:focus-visible{outline:2px solid var(--accent);outline-offset:2px}
table{border-collapse:collapse;font-size:.87rem;width:100%}
caption{text-align:left;font-size:.82rem;padding:0 0 4px}
th,td{padding:4px 14px 4px 0;text-align:left;border-bottom:1px solid var(--rule);vertical-align:top}
tbody th{font-weight:500;white-space:nowrap}td:not(.n){min-width:7.5rem}td:empty{min-width:0}thead th{color:var(--soft);font-weight:500;font-size:.81rem;white-space:nowrap;vertical-align:bottom}
.n{text-align:right;white-space:nowrap}th.n,td.n{padding:4px 0 4px 14px}
td.n+td:not(.n),th.n+th:not(.n){padding-left:18px}
h2+.scroll caption,h3+.scroll caption{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}
td.n:last-child,th.n:last-child{padding-right:2px}
.why{white-space:normal;min-width:16rem;overflow-wrap:anywhere}
figure{margin:10px 0 0}figcaption{font-size:.84rem;color:var(--soft)}
ul{margin:6px 0;padding-left:20px;max-width:90ch}li{margin:2px 0;overflow-wrap:anywhere}
.shade{display:block;padding:1px 8px;border-radius:3px}
footer{margin-top:36px;border-top:1px solid var(--rule);padding-top:10px}
@media (max-width:640px){main{padding:16px 14px 40px}.pair{grid-template-columns:1fr}h1{font-size:1.25rem}.tiles{grid-template-columns:1fr 1fr;gap:8px}.tile{padding:8px 10px}}
@media print{:root{${light}}body{font-size:11px}main{max-width:none;padding:0}.tile,.pane,tr{break-inside:avoid}h2,h3{break-after:avoid}.scroll{overflow:visible}*{-webkit-print-color-adjust:exact;print-color-adjust:exact}}
`;

/** Style of charts, of the part above them, and of tables that draw the visible rows (client/table.tsx). */
export const explorerStyle = `
header{position:relative}#tools{position:absolute;right:0;top:0}header h1{padding-right:6.5rem}
#explore{margin-top:22px}
.bar{display:flex;flex-wrap:wrap;gap:6px 12px;align-items:center;margin:8px 0;font-size:.87rem}
.bar label{display:inline-flex;gap:5px;align-items:center;min-height:30px}.bar .group{display:inline-flex;gap:4px}
button,select{font:inherit;font-size:.87rem;color:var(--fg);background:var(--card);border:1px solid var(--rule);border-radius:5px;padding:3px 9px;min-height:30px;max-width:100%}
button{cursor:pointer}button:hover,select:hover{border-color:var(--soft)}
input[type=search],input[type=text],textarea{font:inherit;font-size:.87rem;color:var(--fg);background:var(--bg);border:1px solid var(--soft);border-radius:5px;padding:3px 9px;min-height:30px;min-width:0;max-width:100%}
input{accent-color:var(--accent);margin:0}
.clock{margin-left:auto;color:var(--soft);white-space:nowrap}
.stage{position:relative}
#charts{position:relative;touch-action:pan-y;border-top:1px solid var(--rule)}
.pane{border-bottom:1px solid var(--rule);padding-top:4px}
.head{display:flex;flex-wrap:wrap;gap:1px 12px;font-size:.82rem;min-height:1.5em;padding-left:2px}
.head strong{font-weight:600}.head output{margin-left:auto;white-space:pre-wrap;text-align:right}
.keys-of-lines{display:inline-flex;flex-wrap:wrap;gap:1px 12px}.key{display:inline-flex;align-items:center;gap:5px;color:var(--soft)}
.swatch{width:22px;border-top:2px solid currentColor}.swatch.dashed{border-top-style:dashed}.swatch.dotted{border-top-style:dotted}.swatch.mixed{border-top-style:double;border-top-width:4px}
.c-accent{color:var(--accent)}.c-loss{color:var(--loss)}.c-c1{color:var(--c1)}.c-c2{color:var(--c2)}.c-c3{color:var(--c3)}.c-c4{color:var(--c4)}.c-c5{color:var(--c5)}.c-c6{color:var(--c6)}
.uplot,.u-over{touch-action:pan-y}.u-over{cursor:crosshair}.u-hz .u-cursor-x,.u-hz .u-cursor-y{border-color:var(--soft)}
.tip{position:absolute;z-index:5;width:max-content;max-width:min(330px,100%);background:var(--bg);border:1px solid var(--soft);border-radius:6px;box-shadow:0 4px 18px #0003;padding:8px 12px;font-size:.84rem;pointer-events:none;overflow-wrap:anywhere}
.tip p{margin:2px 0}.tip ol{list-style:none;margin:6px 0;padding:0}.tip li{display:flex;justify-content:space-between;gap:18px;border-left:2px solid var(--rule);padding-left:8px}
.tip time{color:var(--soft);white-space:nowrap}.tip[hidden]{display:none}
.month{display:block;margin:-4px 0 -4px -10px;padding:4px 4px 4px 10px}.up1{background:var(--up1)}.up2{background:var(--up2)}.up3{background:var(--up3)}.up4{background:var(--up4)}.down1{background:var(--down1)}.down2{background:var(--down2)}.down3{background:var(--down3)}.down4{background:var(--down4)}
.spread{margin:8px 0;max-width:700px}.spread svg{display:block;width:100%;height:130px;border-bottom:1px solid var(--soft)}.spread figcaption{display:flex;justify-content:space-between;gap:12px;font-size:.82rem}
rect.up{fill:var(--gain)}rect.down{fill:var(--loss)}rect.even{fill:var(--soft)}
.keys{font-size:.8rem;max-width:none}.unseen{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}
.vscroll{overflow:auto;contain:content;border:1px solid var(--rule);border-radius:6px;position:relative;max-width:100%}
.vscroll:focus-within:has(table:focus-visible){outline:2px solid var(--accent);outline-offset:-1px}.vscroll table:focus-visible{outline:0}
.vscroll .empty{padding:10px 12px;position:sticky;left:0}.empty{color:var(--soft);padding:10px 2px;margin:0}
table.rows{display:block;min-width:var(--least);font-size:.86rem}table.rows tbody{display:block}
table.rows thead{display:block;position:sticky;top:0;z-index:2}
table.rows tr{display:grid;grid-template-columns:var(--cols);height:30px;contain:strict}
table.rows td,table.rows th{display:block;height:30px;line-height:29px;padding:0 8px;overflow:hidden;text-overflow:ellipsis;white-space:nowrap;border-bottom:1px solid var(--rule);min-width:0}
table.rows th{background:var(--card)}table.rows td.n:last-child,table.rows th.n:last-child{padding-right:10px}
table.rows th button{border:0;background:none;padding:0;min-height:0;color:inherit;font-size:inherit;max-width:100%;overflow:hidden;text-overflow:ellipsis}
table.rows td button{padding:0 7px;min-height:0;font-size:.86em;line-height:1.55}
table.rows th[aria-sort=ascending] button::after{content:" ▲";font-size:.7em}table.rows th[aria-sort=descending] button::after{content:" ▼";font-size:.7em}
table.rows tbody tr{cursor:pointer}table.rows tbody tr:hover td{background:var(--card)}
table.rows tr[aria-selected=true] td{background:var(--accent-fill)}table.rows tr:last-child td{border-bottom:0}table.rows .soft{color:var(--soft)}
@media (max-width:640px){.clock{margin-left:0;width:100%}#tools{position:static}header h1{padding-right:0}
table.rows .wide{display:none}table.rows{min-width:var(--narrow)}table.rows tr{grid-template-columns:var(--ncols)}table.rows td,table.rows th{padding:0 5px}}
@media print{.vscroll{max-height:none!important;height:auto!important;overflow:visible;contain:none;border:0}
table.rows{display:table;min-width:0;font-size:.8em}table.rows thead{display:table-header-group;position:static}table.rows tbody{display:table-row-group}table.rows tr{display:table-row;height:auto;contain:none}
table.rows td,table.rows th{display:table-cell;height:auto;line-height:1.3;padding:2px 4px;white-space:normal}table.rows th{font-size:inherit}
.bar,.tip,.keys,#tools,.u-cursor-x,.u-cursor-y{display:none}}
`;
