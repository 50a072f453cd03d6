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
  readonly called: Promise<CallToolResult>;
}

let tools: readonly CardTool[] = [];
let chosen: CardTool | undefined;
let shown: Shown | undefined;
let card: Card | undefined;
/** Cancels the last call. */
let calling: AbortController | undefined;
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
      element(
        'details',
        { class: kind === 'context' ? 'context' : 'said' },
        element('summary', {}, title),
        element('pre', {}, pretty(content)),
      ),
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
    button.addEventListener('click', () => step(() => change(each)));
    return button;
  });
  list.replaceChildren(...buttons);
}

async function clear(): Promise<void> {
  settleLink(false);
  const before = card;
  card = undefined;
  shown = undefined;
  calling?.abort();
  calling = undefined;
  status.textContent = '';
  await before?.close();
  result.textContent = '';
  byId('outcome', HTMLElement).hidden = true;
}

/** Shows a new card, and gives it what it is for. A card that never answers keeps nobody waiting. */
async function open(now: Shown): Promise<void> {
  shown = now;
  settleLink(false);
  const before = card;
  card = undefined;
  await before?.close();
  const resource = await server.card(now.chosen.uri);
  const opened = new Card(host, now.chosen, resource);
  card = opened;
  stage.classList.toggle('plain', resource.meta.prefersBorder === false);
  await opened.open();
  status.textContent = 'The card has not sent ui/initialize yet';
  void converse(opened, now).catch(() => {
    // the card was closed
  });
}

async function converse(opened: Card, { args, called }: Shown): Promise<void> {
  await opened.ready;
  if (opened === card) status.textContent = '';
  await opened.input(args);
  try {
    await opened.result(await called);
  } catch (error) {
    await opened.cancelled(reasonOf(error));
  }
}

/** Calls the chosen tool, and shows its card meanwhile. A call that hasn't ended is cancelled. */
async function call(): Promise<void> {
  if (chosen === undefined) return;
  showProblem('');
  const args = readArguments(input.value);
  told.replaceChildren();
  calling?.abort();
  const controller = new AbortController();
  calling = controller;
  const called = server.call(chosen.tool.name, args, controller.signal);
  void showOutcome(called, () => calling === controller);
  await open({ chosen, args, called });
}

async function showOutcome(called: Promise<CallToolResult>, isLast: () => boolean): Promise<void> {
  const outcome = byId('outcome', HTMLElement);
  outcome.hidden = true;
  try {
    const value = await called;
    if (!isLast()) return;
    outcome.hidden = false;
    result.textContent = pretty(value);
  } catch (error) {
    if (isLast()) showProblem(reasonOf(error));
  }
}

/** Loads the shown card again with what it was given before. */
async function reload(): Promise<void> {
  if (shown && chosen) await open({ ...shown, chosen });
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
  step(call);
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
