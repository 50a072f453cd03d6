/** The colors of text and what they stand on. Each pair has a contrast of at least 4.5, in both schemes. */
const LIGHT = {
  page: '#f4f5f7',
  card: '#ffffff',
  text: '#1c2430',
  quiet: '#566071',
  line: '#d5d9e0',
  field: '#7c8696',
  accent: '#1f57b8',
  'on-accent': '#ffffff',
  warn: '#fff6e0',
  'on-warn': '#5c3d00',
  'warn-line': '#b98a2c',
  wrong: '#a61b1b',
};

const DARK: typeof LIGHT = {
  page: '#12151a',
  card: '#1b2027',
  text: '#e8ebf0',
  quiet: '#a6afbd',
  line: '#343b46',
  field: '#7d8796',
  accent: '#8fb6f7',
  'on-accent': '#0e1a2e',
  warn: '#2f2711',
  'on-warn': '#f3dca4',
  'warn-line': '#8f7433',
  wrong: '#ff9d94',
};

const variables = (colors: typeof LIGHT): string =>
  Object.entries(colors)
    .map(([name, color]) => `--${name}:${color}`)
    .join(';');

/** The style of all pages. */
export const STYLE = `
:root{color-scheme:light dark;${variables(LIGHT)}}
@media (prefers-color-scheme:dark){:root{${variables(DARK)}}}
*{box-sizing:border-box;margin:0}
body{min-height:100vh;padding:1rem;background:var(--page);color:var(--text);
font:1rem/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif;
display:flex;flex-direction:column;align-items:center;overflow-wrap:anywhere}
main{width:100%;max-width:27rem;margin:auto;padding:1.5rem;background:var(--card);
border:1px solid var(--line);border-radius:.75rem}
h1{font-size:1.5rem;line-height:1.25;font-weight:650;margin-bottom:.5rem}
h2{font-size:1rem;font-weight:650;margin-bottom:.25rem}
.name{font-size:1.125rem;font-weight:650;line-height:1.35;margin:.5rem 0 1rem;padding-inline-start:.75rem;
border-inline-start:.2rem solid var(--line)}
dl{margin-bottom:1.25rem;border-block:1px solid var(--line)}
dl div{padding:.5rem 0;display:grid;grid-template-columns:8rem 1fr;gap:0 1rem}
dl div+div{border-top:1px solid var(--line)}
dt,small{color:var(--quiet)}
section{margin-bottom:1.25rem}
ul{padding-inline-start:1.25rem}
li{padding-block:.125rem}
.warning{padding:.75rem 1rem;background:var(--warn);color:var(--on-warn);border:1px solid var(--warn-line);
border-radius:.5rem}
.wrong{color:var(--wrong);font-weight:600;margin-bottom:1rem}
label{display:block;font-weight:600}
.field{margin-bottom:1rem}
.field input{width:100%;margin-top:.25rem;padding:.625rem .75rem;font:inherit;color:inherit;
background:var(--card);border:1px solid var(--field);border-radius:.5rem}
.field input[aria-invalid]{border-color:var(--wrong)}
.check{display:flex;gap:.625rem;align-items:flex-start;margin-bottom:1.25rem;font-weight:400}
.check input{width:1.125rem;height:1.125rem;margin-top:.2rem;flex:none;accent-color:var(--accent)}
button{font:inherit;cursor:pointer}
.actions{display:flex;flex-wrap:wrap;gap:.75rem}
.actions button{flex:1 1 8rem;min-height:2.75rem;padding:.5rem 1rem;font-weight:600;border-radius:.5rem;
border:1px solid var(--field);background:var(--card);color:var(--text)}
.actions .primary{border-color:var(--accent);background:var(--accent);color:var(--on-accent)}
.link{padding:.125rem 0;border:0;background:none;color:var(--accent);text-decoration:underline;text-align:start}
:focus-visible{outline:3px solid var(--accent);outline-offset:2px}
@media (max-width:26rem){dl div{grid-template-columns:1fr}main{padding:1.25rem 1rem}}
@media (forced-colors:active){.actions .primary{border-width:3px}}
`;
