/**
 * How a tearsheet looks, and the few lines that read values off its pictures under the pointer.
 *
 * Invariants: nothing is fetched; colours keep a contrast of at least 4.5 on their ground, in light and in dark; without the
 * script only the read-outs are missing; what a picture says in colour it also says in shape or words.
 */

export const style = `
:root{color-scheme:light dark;--bg:#fff;--card:#f6f7f9;--fg:#191c20;--soft:#555e69;--rule:#dfe3e8;--accent:#1d5bb8;--gain:#0b6b38;--loss:#b3261e;--warn:#7a4b00;--warnbg:#fff4dc;--buy:#1d5bb8;--sell:#b4450b;--band-buy:#1d5bb826;--band-sell:#b4450b26;--fill:#1d5bb81c;--dd:#b3261e2b;--w-uid:#b3261e;--w-key:#b7791f;--w-ip:#6b46c1;--w-other:#2c7a7b;--w-turn:#8a94a0}
@media (prefers-color-scheme:dark){:root{--bg:#121518;--card:#1b2025;--fg:#e7eaed;--soft:#a7b0ba;--rule:#2e353c;--accent:#79b0ff;--gain:#57cc93;--loss:#ff938a;--warn:#ffcf70;--warnbg:#33270b;--buy:#79b0ff;--sell:#ffa968;--band-buy:#79b0ff2e;--band-sell:#ffa9682e;--fill:#79b0ff24;--dd:#ff938a33;--w-uid:#ff938a;--w-key:#f2c14e;--w-ip:#b79cf7;--w-other:#5fc9c9;--w-turn:#77828d}}
*{box-sizing:border-box}
body{margin:0;background:var(--bg);color:var(--fg);font:15px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Liberation Sans",sans-serif;font-variant-numeric:tabular-nums;-webkit-text-size-adjust:100%}
main{max-width:1120px;margin:0 auto;padding:28px 24px 56px}
h1{font-size:1.5rem;line-height:1.25;margin:0 0 4px;overflow-wrap:anywhere}
h2{font-size:1.06rem;margin:36px 0 10px;padding-bottom:5px;border-bottom:1px solid var(--rule)}
h3{font-size:.95rem;margin:20px 0 6px}
p{margin:6px 0;max-width:78ch}
.soft,figcaption,caption{color:var(--soft)}
.hash{overflow-wrap:anywhere;font-family:ui-monospace,Menlo,Consolas,"Liberation Mono",monospace;font-size:.82rem}
.warn{margin:14px 0 0;padding:9px 14px;border-left:4px solid var(--warn);background:var(--warnbg);color:var(--warn);border-radius:3px;overflow-wrap:anywhere;max-width:none}
.tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(230px,1fr));gap:10px;margin:20px 0 0;padding:0}
.tile{background:var(--card);border:1px solid var(--rule);border-radius:6px;padding:10px 13px}
.tile dt{color:var(--soft);font-size:.82rem}.tile dd{margin:0;font-size:1.22rem;font-weight:600}.tile dd small{display:block;font-size:.8rem;font-weight:400;color:var(--soft)}
.gain{color:var(--gain)}.loss{color:var(--loss)}
.pair{display:grid;grid-template-columns:1fr 1fr;gap:4px 32px}
.scroll{overflow-x:auto;margin:8px 0}.scroll:focus-visible{outline:2px solid var(--accent);outline-offset:2px}
table{border-collapse:collapse;font-size:.87rem;width:100%}
caption{text-align:left;font-size:.82rem;padding:0 0 4px}
th,td{padding:4px 14px 4px 0;text-align:left;border-bottom:1px solid var(--rule);vertical-align:top}
tbody th{font-weight:500;white-space:nowrap}td:not(.n){min-width:7.5rem}td:empty{min-width:0}thead th{color:var(--soft);font-weight:500;font-size:.81rem;white-space:nowrap;vertical-align:bottom}
.n{text-align:right;white-space:nowrap}th.n,td.n{padding:4px 0 4px 14px}
td.n+td:not(.n),th.n+th:not(.n){padding-left:18px}
h2+.scroll caption,h3+.scroll caption{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}
td.n:last-child,th.n:last-child{padding-right:2px}
.why{white-space:normal;min-width:16rem;overflow-wrap:anywhere}
figure{margin:10px 0 0}
figcaption{font-size:.84rem;display:flex;flex-wrap:wrap;gap:2px 16px;justify-content:space-between;min-height:1.5em}
output{color:var(--fg);font-weight:500}
.plot{position:relative;margin:6px 2px 32px 74px;height:var(--h)}
.plot svg{position:absolute;inset:0;width:100%;height:100%;overflow:hidden}
.plot svg *{vector-effect:non-scaling-stroke}
.y,.x{position:absolute;font-size:.76rem;color:var(--soft);white-space:nowrap;line-height:1;pointer-events:none}
.y{right:100%;margin-right:8px;transform:translateY(-50%)}.x{top:100%;margin-top:7px;transform:translateX(-50%)}
.x.first{transform:none}.x.last{transform:translateX(-100%)}
.cursor{position:absolute;top:0;bottom:0;width:1px;background:var(--soft);display:none;pointer-events:none}
.grid{stroke:var(--rule);stroke-width:1;fill:none}.level{stroke:var(--soft);stroke-width:1;stroke-dasharray:4 4;fill:none}
.limit{stroke:var(--loss);stroke-width:1.5;stroke-dasharray:6 3;fill:none}
.line{stroke:var(--accent);stroke-width:1.6;fill:none;stroke-linejoin:round}.area{fill:var(--fill);stroke:none}
.fall{fill:var(--dd);stroke:var(--loss);stroke-width:1.2}.px{stroke:var(--soft);stroke-width:1.1;fill:none}.span{fill:var(--rule);stroke:none}
.bar{fill:var(--accent);stroke:none}.rest-buy{fill:var(--band-buy);stroke:none}.rest-sell{fill:var(--band-sell);stroke:none}
.buys{stroke:var(--buy);stroke-width:6;stroke-linecap:round;fill:none}.sells{stroke:var(--sell);stroke-width:5;stroke-linecap:square;fill:none}.small{stroke-width:2.6;opacity:.75}
.key{display:inline-flex;flex-wrap:wrap;gap:2px 14px}.key i{display:inline-block;width:10px;height:10px;margin-right:5px;vertical-align:-1px;background:currentColor}
.key .dot{border-radius:50%}.key b{font-weight:400}
.uid{color:var(--w-uid);fill:var(--w-uid)}.k-key{color:var(--w-key);fill:var(--w-key)}.ip{color:var(--w-ip);fill:var(--w-ip)}.other{color:var(--w-other);fill:var(--w-other)}.turn{color:var(--w-turn);fill:var(--w-turn)}
.key b span{color:var(--soft)}
.c-buy{color:var(--buy)}.c-sell{color:var(--sell)}.c-bbuy i{background:var(--band-buy);outline:1px solid var(--buy)}.c-bsell i{background:var(--band-sell);outline:1px solid var(--sell)}.c-px i{height:2px;vertical-align:4px;color:var(--soft)}
ul{margin:6px 0;padding-left:20px;max-width:90ch}li{margin:2px 0;overflow-wrap:anywhere}
.shade{display:block;padding:1px 8px;border-radius:3px}
footer{margin-top:36px;border-top:1px solid var(--rule);padding-top:10px}
@media (max-width:640px){main{padding:18px 14px 40px}.pair{grid-template-columns:1fr}.plot{margin-left:60px}.minor{display:none}h1{font-size:1.25rem}.tiles{grid-template-columns:1fr 1fr;gap:8px}.tile{padding:8px 10px}.tile dd{font-size:1.08rem}}
@media print{:root{color-scheme:light;--bg:#fff;--card:#fff;--fg:#000;--soft:#444;--rule:#ccc;--accent:#1d5bb8;--gain:#0b6b38;--loss:#b3261e;--buy:#1d5bb8;--sell:#b4450b;--warn:#7a4b00;--warnbg:#fff}body{font-size:11px}main{max-width:none;padding:0}figure,.tile,tr{break-inside:avoid}h2,h3{break-after:avoid}.scroll{overflow:visible}output{display:none}*{-webkit-print-color-adjust:exact;print-color-adjust:exact}}
`;

/** Each plot carries its read-outs: `x` from 0 to 1000 and one text per series and point. */
export const script = `
for(const plot of document.querySelectorAll(".plot[data-read]")){
const read=JSON.parse(plot.dataset.read),out=plot.parentElement.querySelector("output"),line=plot.querySelector(".cursor"),texts=read.s.map(([name,all])=>[name,all.split("|")]);
const show=e=>{const box=plot.getBoundingClientRect(),at=(e.clientX-box.left)/box.width*1000;let a=0,b=read.x.length-1;
while(b-a>1){const m=(a+b)>>1;if(read.x[m]<=at)a=m;else b=m}
const i=at-read.x[a]<=read.x[b]-at?a:b;line.style.display="block";line.style.left=read.x[i]/10+"%";
out.textContent=texts.map(([name,all])=>(name?name+" ":"")+all[i]).join("  ·  ")};
const hide=()=>{line.style.display="none";out.textContent=""};
plot.addEventListener("pointermove",show);plot.addEventListener("pointerdown",show);plot.addEventListener("pointerleave",hide)}
`;
