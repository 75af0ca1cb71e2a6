/**
 * The document of the page, and its icon.
 *
 * Invariants: no script and no style inside, as the policy of the port forbids both.
 */

export const indexPage = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width,initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Sluice</title>
<link rel="icon" href="/assets/icon.svg">
<link rel="stylesheet" href="/assets/page.css">
<script src="/assets/page.js" defer></script>
</head>
<body>
<div id="page"><p class="empty">Connecting to the engine …</p></div>
<noscript><p class="warn">This page needs JavaScript. Without it, use <code>sluice ctl status</code> in a terminal.</p></noscript>
</body>
</html>
`;

export const icon = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><title>Sluice</title><rect width="32" height="32" rx="7" fill="#1d5bb8"/><path d="M5 12c4-4 7 4 11 0s7 4 11 0M5 20c4-4 7 4 11 0s7 4 11 0" fill="none" stroke="#fff" stroke-width="2.6" stroke-linecap="round"/></svg>`;
