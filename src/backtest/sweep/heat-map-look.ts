/**
 * The style sheet of the heat map, for light and dark.
 *
 * Invariants: text stands out from the strongest colour of a cell in both; nothing is loaded from anywhere.
 */
export const css = `
:root { color-scheme: light dark; --page: #fbfbfa; --ink: #1d1f21; --soft: #63676c; --plain: #efefec; --good: #3fa36b; --bad: #dd7a5e; --line: #1d1f21; }
@media (prefers-color-scheme: dark) {
  :root { --page: #15171a; --ink: #eceae6; --soft: #9aa0a6; --plain: #26292d; --good: #2c7a4f; --bad: #a34a35; --line: #f5f3ee; }
}
body { margin: 0; background: var(--page); color: var(--ink); font: 15px/1.5 system-ui, sans-serif; }
main { max-width: 72rem; margin: 0 auto; padding: 2rem 1.25rem; }
h1 { font-size: 1.3rem; margin: 0; overflow-wrap: anywhere; }
p { max-width: 46rem; }
.facts, .legend { color: var(--soft); }
.map { overflow-x: auto; }
svg text { font: 13px system-ui, sans-serif; fill: var(--ink); font-variant-numeric: tabular-nums; }
svg .value, svg .middle { text-anchor: middle; }
svg .label { fill: var(--soft); }
svg .name { font-weight: 600; }
svg .end { text-anchor: end; }
svg .best { stroke: var(--line); stroke-width: 2.5; }
.legend span { display: inline-block; width: 1.6em; height: 1em; margin: 0 .4em 0 1em; vertical-align: -.12em; border-radius: 2px; }
.legend .worst { background: var(--bad); margin-left: 0; }
.legend .zero { background: var(--plain); }
.legend .finest { background: var(--good); }
.legend .outlined { outline: 2px solid var(--line); }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; display: block; overflow-x: auto; }
th, td { padding: .25em .9em .25em 0; text-align: right; border-bottom: 1px solid var(--plain); }
th { color: var(--soft); font-weight: 600; }
`;
