/**
 * Style of the control room, in addition to the style of report pages: their palette, tables, charts and buttons.
 *
 * Invariants: those of `sluice/plugins/ui-kit`; places where money is real have a colour of their own.
 */
import { chartStyle, explorerStyle, style } from "sluice/plugins/ui-kit";

const light =
  "--real:#8a1c7c;--realbg:#fbe9f8;--good:#0b6b38;--goodbg:#e3f4ea;--bad:#b3261e;--badbg:#fdebe8;--halt:#c01f17;--track:#e9edf1;--stripe:#0000001f";
const dark =
  "--real:#f3a6e6;--realbg:#3a1735;--good:#57cc93;--goodbg:#17301f;--bad:#ff938a;--badbg:#3a1e1b;--halt:#c9302a;--track:#262c33;--stripe:#ffffff30";

const own = `
:root{${light}}
:root[data-theme="dark"]{${dark}}
@media (prefers-color-scheme: dark){
:root:not([data-theme="light"]){${dark}}
}
[hidden]{display:none !important}
html{scrollbar-gutter:stable}
body{font-size:14px}
#page{max-width:1720px;margin:0 auto}
.top{position:sticky;top:0;z-index:20;background:var(--bg);border-bottom:1px solid var(--rule)}
.topline{display:flex;align-items:center;gap:8px 14px;padding:9px 20px;flex-wrap:wrap}
.top h1{font-size:1.12rem;margin:0;padding:0;min-width:0;max-width:34ch;overflow:hidden;text-overflow:ellipsis;white-space:nowrap}
.chips{display:flex;flex-wrap:wrap;gap:6px 10px;align-items:center;min-width:0;flex:1}
.chip{border-radius:999px;padding:2px 11px;font-size:0.84rem;font-weight:600;background:var(--card);border:1px solid var(--rule);white-space:nowrap;overflow:hidden;text-overflow:ellipsis;max-width:100%}
.chip.real{color:var(--real);background:var(--realbg);border-color:var(--real)}
.chip.good{color:var(--good);background:var(--goodbg);border-color:transparent}
.chip.bad{color:var(--bad);background:var(--badbg);border-color:var(--bad)}
.chip.amber{color:var(--warn);background:var(--warnbg);border-color:transparent}
.link{display:inline-flex;align-items:center;gap:7px;font-size:0.84rem;color:var(--soft);white-space:nowrap}
.link i{width:9px;height:9px;border-radius:50%;background:var(--good);flex:none}
.link.bad i{background:none;border:2px solid var(--bad)}
.link.bad{color:var(--bad);font-weight:600}
.tools{display:flex;gap:8px;align-items:center;margin-left:auto}
.top .tools button{min-width:34px;min-height:34px}
.top .tools .halt{background:var(--halt);border-color:var(--halt);color:#fff;font-weight:700;font-size:0.98rem;padding:5px 22px;letter-spacing:0.02em}
.top .tools .halt:hover:not(:disabled){filter:brightness(1.1)}
.top .tools .halt.resume{background:var(--good);border-color:var(--good);color:var(--bg)}
button:disabled{cursor:default;opacity:0.5}
button.danger{background:var(--halt);border-color:var(--halt);color:#fff;font-weight:600}
button.primary{background:var(--accent);border-color:var(--accent);color:var(--bg);font-weight:600}
button[aria-pressed="true"]{border-color:var(--accent);color:var(--accent)}
.readonly .acts,.cannotact main .acts{display:none !important}
.banner{margin:0;max-width:none;padding:7px 20px;font-weight:600;overflow-wrap:anywhere}
.banner.bad{background:var(--badbg);color:var(--bad)}
.banner.amber{background:var(--warnbg);color:var(--warn)}
.tabs,.views{display:flex;gap:2px;padding:0 16px;border-bottom:1px solid var(--rule);overflow-x:auto;scrollbar-width:thin}
.tabs{background:var(--card);padding-top:4px}
.tabs button,.views button{border:0;border-bottom:3px solid transparent;border-radius:0;background:none;padding:7px 13px 5px;font-size:0.93rem;white-space:nowrap;color:var(--soft);flex:none;max-width:24ch;overflow:hidden;text-overflow:ellipsis}
.tabs button:focus-visible,.views button:focus-visible{outline-offset:-3px}
.tabs [aria-current],.views [aria-current]{color:var(--fg);border-bottom-color:var(--accent);font-weight:600}
.played{background:var(--card);border-bottom:1px solid var(--rule)}
.played .playback{padding:6px 20px;margin:0;flex-wrap:nowrap}
.missing{margin:0;max-width:none;padding:0 20px 6px;font-size:0.84rem}
.playback input{flex:1;min-width:80px}
.playback .clock{min-width:13em;text-align:right}
main.room{max-width:none;padding:14px 20px 40px}
main.old>*{opacity:0.5;filter:grayscale(1)}
h2{font-size:0.98rem;margin:18px 0 6px;padding-bottom:3px}
.split>section>h2:first-child,.split>div>section:first-child>h2,.twocharts>section>h2,.room>div>section:first-child>h2{margin-top:4px}
select{max-width:190px;text-overflow:ellipsis}
.tiles{margin:0 0 14px;grid-template-columns:repeat(auto-fit,minmax(190px,1fr))}
.tile dd{font-size:clamp(0.9rem,10cqi,1.35rem);line-height:1.3}
.tile dd small{font-size:0.79rem;line-height:1.35}
.amber{color:var(--warn)}
.split{display:grid;grid-template-columns:minmax(0,1fr) clamp(260px,22vw,380px);gap:4px 28px}
.split.even{grid-template-columns:minmax(0,1fr) minmax(0,1fr)}
.split>*{min-width:0}
.stage{min-width:0}
.twocharts{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,400px),1fr));gap:18px 24px}
.twocharts>*{min-width:0}
.charts{position:relative;touch-action:pan-y;border-top:1px solid var(--rule);min-width:0;overflow:hidden}
.bar{gap:6px 8px;margin:4px 0 6px}
.bar .group{gap:3px}
.bar>span:empty{display:none}
.bar button{padding:2px 8px}
.clock{font-size:0.84rem}
.lastprice{font-weight:600;margin:2px 0 6px;min-height:1.5em}
table.rows tbody tr.tone-bad td:first-child{box-shadow:inset 3px 0 var(--bad)}
.fill{min-width:0}
main .fill .vscroll{height:calc(100vh - 215px);min-height:240px;overscroll-behavior:contain}
.withstory{display:flex;gap:20px}
.withstory>.fill{flex:1}
.story{width:370px;flex:none;border:1px solid var(--rule);border-radius:6px;padding:10px 16px;background:var(--card);overflow:auto;max-height:calc(100vh - 170px);overflow-wrap:anywhere}
.storyhead{display:flex;justify-content:space-between;align-items:start;gap:10px}
.storyhead h2{margin:2px 0 6px;border:0}
.facts{display:grid;grid-template-columns:max-content minmax(0,1fr);gap:3px 14px;margin:6px 0 10px;font-size:0.88rem}
.facts dt{color:var(--soft);max-width:24ch}
.facts dd{margin:0;overflow-wrap:anywhere}
.steps{list-style:none;padding:0;margin:4px 0;font-size:0.87rem}
.steps li{display:grid;grid-template-columns:1fr max-content;gap:0 10px;border-left:2px solid var(--rule);padding:3px 0 5px 12px;margin:0;position:relative}
.steps li::before{content:"";position:absolute;left:-5px;top:10px;width:8px;height:8px;border-radius:50%;background:var(--accent)}
.steps time{color:var(--soft);white-space:nowrap}
.steps small{grid-column:1 / -1;color:var(--soft)}
.gauges{margin-bottom:14px;display:grid;grid-template-columns:repeat(auto-fit,minmax(260px,1fr));gap:12px 24px}
.gauge .head{justify-content:space-between;font-size:0.88rem;flex-wrap:nowrap;padding:0}
.gauge .head strong{overflow:hidden;text-overflow:ellipsis;white-space:nowrap}
.gauge .left{color:var(--soft);white-space:nowrap}
.gauge p{margin:3px 0 0;font-size:0.82rem}
.gaugebar{display:flex;height:16px;border-radius:4px;overflow:hidden;background:var(--track)}
.gaugebar i{display:block;height:100%}
.gaugebar .own{background:var(--accent)}
.gaugebar .foreign{background:repeating-linear-gradient(45deg,var(--c2) 0 4px,var(--track) 4px 8px)}
.gaugebar .reserved{background:repeating-linear-gradient(-45deg,var(--stripe) 0 2px,transparent 2px 6px);border-left:2px solid var(--soft)}
.gauge.full .own{background:var(--warn)}
.timebar{height:3px;margin-top:2px}
.timebar .time{display:block;height:100%;background:var(--soft);border-radius:2px}
.lines{list-style:none;margin:0;padding:0;font-size:0.86rem}
.lines li{display:grid;grid-template-columns:max-content minmax(0,1fr);gap:10px;padding:3px 0;border-bottom:1px solid var(--rule);margin:0}
.lines li.empty{display:block}
.lines time{color:var(--soft)}
.lines span{display:-webkit-box;-webkit-line-clamp:2;-webkit-box-orient:vertical;overflow:hidden;overflow-wrap:anywhere}
.loss{color:var(--loss)}
.ladder{font-size:0.86rem;table-layout:fixed}
.ladder td{padding:2px 8px;border-bottom:0;height:23px;min-width:0 !important;position:relative}
.ladder th{padding:2px 8px}
.ladder .ask .px{color:var(--sell)}
.ladder .bid .px{color:var(--buy)}
.ladder .depth i{position:absolute;right:0;top:2px;bottom:2px;background:var(--accent-fill);border-radius:2px}
.ladder .ask .depth i{background:var(--sell-fill)}
.ladder .depth span{position:relative}
.ladder .own{font-weight:600}
.ladder .spread td{color:var(--soft);border-top:1px solid var(--rule);border-bottom:1px solid var(--rule);overflow:visible}
.cards{list-style:none;padding:0;margin:0;max-width:none;display:grid;grid-template-columns:repeat(auto-fill,minmax(300px,1fr));gap:14px}
.cards li.old{opacity:0.6}
.card{width:100%;text-align:left;padding:13px 16px;border-radius:8px;font-size:1rem;height:100%}
.cardhead{display:flex;gap:10px;justify-content:space-between;align-items:center}
.cardhead strong{overflow:hidden;text-overflow:ellipsis;white-space:nowrap}
.big{font-size:1.3rem;font-weight:600;margin:8px 0 2px}
dialog{border:1px solid var(--soft);border-radius:10px;padding:0;background:var(--bg);color:var(--fg);width:min(560px,calc(100vw - 24px));max-height:calc(100vh - 24px);overflow:auto;box-shadow:0 12px 60px #0006}
dialog::backdrop{background:#0008}
dialog form{padding:18px 22px}
dialog h2{margin:0 0 8px;font-size:1.12rem;border:0;overflow-wrap:anywhere}
dialog ul{padding-left:18px}
dialog li{margin:5px 0}
dialog .warn{margin:10px 0}
.answers{display:flex;justify-content:flex-end;gap:10px;margin-top:16px;flex-wrap:wrap}
.answers button{min-height:36px;padding:4px 18px}
.field{display:grid;gap:3px;margin:9px 0;font-size:0.9rem;overflow-wrap:anywhere}
.field input[type="checkbox"]{justify-self:start}
.fields{max-height:46vh;overflow:auto;padding:0 4px}
pre.options{background:var(--card);border:1px solid var(--rule);border-radius:6px;padding:8px 12px;font-size:0.82rem;max-height:30vh;overflow:auto;white-space:pre-wrap;overflow-wrap:anywhere;margin:6px 0}
kbd{font:inherit;font-size:0.84rem;border:1px solid var(--soft);border-bottom-width:2px;border-radius:4px;padding:0 7px;white-space:nowrap}
.note{position:fixed;left:20px;bottom:18px;z-index:30;margin:0;padding:9px 16px;border-radius:7px;background:var(--fg);color:var(--bg);box-shadow:0 6px 24px #0004;max-width:min(560px,calc(100vw - 40px));overflow-wrap:anywhere}
.note.bad{background:var(--bad)}
@media (max-width: 1000px){
.split,.split.even{grid-template-columns:minmax(0,1fr)}
.story{position:fixed;inset:auto 0 0 0;width:auto;max-height:72vh;z-index:25;border-radius:12px 12px 0 0;box-shadow:0 -6px 30px #0005}
}
@media (max-width: 640px){
.topline{padding:8px 12px;gap:6px 10px}
.top h1{flex:1}
.chips{order:3;flex-basis:100%}
.tools{display:contents}
.tools .quiet{order:4;flex:1 1 100%}
.banner,.played .playback,.missing{padding-left:12px;padding-right:12px}
.played .playback{flex-wrap:wrap}
.playback .clock{width:auto;min-width:0}
.tabs,.views{padding:0 6px}
main.room{padding:10px 12px 32px}
.tiles{grid-template-columns:1fr 1fr}
.tiles>:first-child{grid-column:1 / -1}
main .fill .vscroll{height:calc(100vh - 330px)}
.clock{width:auto}
.split>*+*{margin-top:16px}
.bar select,.bar input[type="search"]{max-width:47%}
}
@media (prefers-reduced-motion: reduce){
*{transition:none !important;scroll-behavior:auto !important}
}
`;

/** The whole style of the page. */
export const pageStyle = (): string => `${style}${chartStyle()}${explorerStyle}${own}`;
