/** The page that plays the host: it lists the tools with a card, calls one, and shows its card. */
// first: it changes what the libraries do when they load
import './policy.js';

import type { CallToolResult } from '@modelcontextprotocol/client';

import { argumentsFor, describeArguments, readArguments } from './arguments.js';
import { Card, type CardHost } from './card.js';
import { byId, element, pretty, reasonOf } from './dom.js';
import { Messages } from './messages.js';
import { type CardTool, Server } from './server.js';

const status = byId('status', HTMLElement);
const problem = byId('problem', HTMLElement);
const list = byId('tools', HTMLElement);
const input = byId('arguments', HTMLTextAreaElement);
const again = byId('again', HTMLInputElement);
const callButton = byId('call', HTMLButtonElement);
const result = byId('result', HTMLElement);
const place = byId('card', HTMLElement);
const stage = byId('stage', HTMLElement);
const link = byId('link', HTMLElement);
const told = byId('told', HTMLElement);
const theme = byId('theme', HTMLSelectElement);

const messages = new Messages(byId('messages', HTMLElement), byId('count', HTMLElement));
const server = new Server();
const drafts = new Map<string, string>();

/** What the shown card was given. */
interface Shown {
  readonly chosen: CardTool;
  readonly args: Record<string, unknown>;
  result?: CallToolResult;
}

let tools: readonly CardTool[] = [];
let chosen: CardTool | undefined;
let shown: Shown | undefined;
let card: Card | undefined;
let answerLink: ((opens: boolean) => void) | undefined;

function showProblem(text: string): void {
  problem.textContent = text;
  problem.hidden = text === '';
}

const host: CardHost = {
  server,
  messages,
  place,
  display: (mode) => stage.classList.toggle('fullscreen', mode === 'fullscreen'),
  tellModel(kind, content) {
    const title = kind === 'message' ? 'Message to the model' : 'Context for the model';
    if (kind === 'context') for (const each of told.querySelectorAll('.context')) each.remove();
    told.append(
      element('details', { class: kind }, element('summary', {}, title), element('pre', {}, pretty(content))),
    );
    while (told.childElementCount > 20) told.firstElementChild?.remove();
  },
  openLink(url) {
    const isWeb = /^https?:\/\//i.test(url);
    // one question at a time: a card must not bury the page
    if (!isWeb || answerLink) return Promise.resolve(false);
    return new Promise((resolve) => {
      answerLink = resolve;
      byId('link-url', HTMLElement).textContent = url;
      link.hidden = false;
    });
  },
};

function settleLink(opens: boolean): void {
  const url = byId('link-url', HTMLElement).textContent ?? '';
  link.hidden = true;
  answerLink?.(opens);
  answerLink = undefined;
  if (opens) window.open(url, '_blank', 'noopener,noreferrer');
}

function choose(next: CardTool | undefined): void {
  if (chosen) drafts.set(chosen.tool.name, input.value);
  chosen = next;
  byId('chosen', HTMLElement).hidden = next === undefined;
  byId('empty', HTMLElement).hidden = next !== undefined;
  showTools();
  if (next === undefined) return;
  const { tool, uri } = next;
  byId('name', HTMLElement).textContent = tool.title ?? tool.name;
  byId('uri', HTMLElement).textContent = uri;
  byId('description', HTMLElement).textContent = tool.description ?? '';
  byId('fields', HTMLElement).replaceChildren(describeArguments(tool));
  input.value = drafts.get(tool.name) ?? argumentsFor(tool);
  history.replaceState(null, '', `#${encodeURIComponent(tool.name)}`);
}

/** Another tool was chosen by the user. */
async function change(next: CardTool): Promise<void> {
  if (next.tool.name === chosen?.tool.name) return;
  choose(next);
  again.checked = next.tool.annotations?.readOnlyHint === true;
  await clear();
}

function showTools(): void {
  const buttons = tools.map((each) => {
    const button = element(
      'button',
      { class: each.tool.name === chosen?.tool.name ? 'tool chosen' : 'tool' },
      element('strong', {}, each.tool.title ?? each.tool.name),
      element('span', {}, each.uri),
    );
    button.type = 'button';
    button.addEventListener('click', () => void change(each));
    return button;
  });
  list.replaceChildren(...buttons);
}

async function clear(): Promise<void> {
  settleLink(false);
  const before = card;
  card = undefined;
  shown = undefined;
  await before?.close();
  result.textContent = '';
  byId('outcome', HTMLElement).hidden = true;
}

/** Shows a new card for the chosen tool. */
async function open({ chosen: { tool, uri }, args }: Shown): Promise<Card> {
  settleLink(false);
  const before = card;
  card = undefined;
  await before?.close();
  const resource = await server.card(uri);
  const opened = new Card(host, { tool, uri }, resource);
  card = opened;
  stage.classList.toggle('plain', resource.meta.prefersBorder === false);
  await opened.open();
  void opened.ready.then(() => opened.input(args));
  return opened;
}

function showResult(value: CallToolResult): void {
  byId('outcome', HTMLElement).hidden = false;
  result.textContent = pretty(value);
}

/** Calls the chosen tool, and shows its card meanwhile. */
async function call(): Promise<void> {
  if (chosen === undefined) return;
  showProblem('');
  const args = readArguments(input.value);
  told.replaceChildren();
  const now: Shown = { chosen, args };
  shown = now;
  const called = server.call(chosen.tool.name, args);
  // handled below, after the card has loaded
  called.catch(() => {});
  const opened = await open(now);
  try {
    now.result = await called;
    showResult(now.result);
    await opened.ready;
    await opened.result(now.result);
  } catch (error) {
    void opened.ready.then(() => opened.cancelled(reasonOf(error)));
    throw error;
  }
}

/** Loads the shown card again with what it was given before. */
async function reload(): Promise<void> {
  if (shown === undefined || chosen === undefined) return;
  const now: Shown = { ...shown, chosen };
  shown = now;
  const opened = await open(now);
  await opened.ready;
  if (now.result) await opened.result(now.result);
}

let running: Promise<void> = Promise.resolve();

/** Runs one step after the other, and shows why one fails. */
function step(run: () => Promise<void>): void {
  running = running.then(run).catch((error: unknown) => showProblem(reasonOf(error)));
}

async function refresh(): Promise<void> {
  tools = await server.cardTools();
  const { tool } = chosen ?? {};
  const name = tool?.name ?? decodeURIComponent(location.hash.slice(1));
  const found = tools.find((each) => each.tool.name === name);
  const isFirst = chosen === undefined;
  choose(found ?? tools[0]);
  if (isFirst) again.checked = chosen?.tool.annotations?.readOnlyHint === true;
  if (!found) await clear();
}

/** Follows the program. */
function follow(): void {
  const events = new EventSource('/events');
  let wasLost = false;
  events.addEventListener('changed', () =>
    step(async () => {
      showProblem('');
      if (!server.isConnected) return location.reload();
      await refresh();
      if (shown === undefined) return;
      await (again.checked ? call() : reload());
    }),
  );
  events.addEventListener('problem', ({ data }: MessageEvent<string>) =>
    showProblem((JSON.parse(data) as { text: string }).text),
  );
  events.addEventListener('blocked', ({ data }: MessageEvent<string>) => {
    const { directive, uri } = JSON.parse(data) as { directive: string; uri: string };
    messages.note(directive, uri);
  });
  events.addEventListener('error', () => {
    wasLost = true;
    status.textContent = 'decorum dev has ended';
    status.className = 'lost';
  });
  events.addEventListener('open', () => {
    // another process, with other sessions
    if (wasLost) location.reload();
  });
}

function applyTheme(): void {
  const isDark =
    theme.value === 'dark' || (theme.value === 'auto' && matchMedia('(prefers-color-scheme: dark)').matches);
  document.documentElement.dataset['theme'] = isDark ? 'dark' : 'light';
  card?.contextChanged();
}

theme.addEventListener('change', applyTheme);
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', applyTheme);
applyTheme();
addEventListener('resize', () => card?.contextChanged());
byId('form', HTMLFormElement).addEventListener('submit', (event) => {
  event.preventDefault();
  step(async () => {
    callButton.disabled = true;
    await call().finally(() => (callButton.disabled = false));
  });
});
byId('clear', HTMLButtonElement).addEventListener('click', () => messages.clear());
byId('link-open', HTMLButtonElement).addEventListener('click', () => settleLink(true));
byId('link-refuse', HTMLButtonElement).addEventListener('click', () => settleLink(false));
byId('leave', HTMLButtonElement).addEventListener('click', () => card?.show('inline'));
step(async () => {
  await server.connect(() => step(refresh));
  byId('server', HTMLElement).textContent = server.title;
  document.title = `Cards of ${server.title}`;
  await refresh();
});
follow();
