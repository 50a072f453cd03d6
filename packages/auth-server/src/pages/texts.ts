import { isObject } from '@decorum/core/internal';
import { type OptionTypes, requireOptions, startupError } from '@decorum/core/plugin';

import type { ConsentView, LockedView, SignInView } from './views.js';

/** A text of a page, or a function that makes it from what the page shows. */
export type PageText<View> = string | ((view: View) => string);

/** The texts of the pages, to translate or reword them. Markup in them is escaped. */
export interface PageTexts {
  /** The language of the texts, as a BCP 47 tag such as `de`. */
  readonly lang?: string;
  readonly signInTitle?: PageText<SignInView>;
  /** Above the name that the client gives itself. It must not sound as if the name were checked. */
  readonly signInLead?: PageText<SignInView>;
  readonly username?: PageText<SignInView>;
  readonly password?: PageText<SignInView>;
  readonly signIn?: PageText<SignInView>;
  /** If the name or the password is wrong. It must not say which. */
  readonly wrong?: PageText<SignInView>;
  readonly consentTitle?: PageText<ConsentView>;
  /** Above the name that the client gives itself. It must not sound as if the name were checked. */
  readonly consentLead?: PageText<ConsentView>;
  /** In place of the name of a client that has none. */
  readonly unnamed?: PageText<SignInView | ConsentView>;
  /** Labels the host of the client's id. */
  readonly clientHost?: PageText<SignInView | ConsentView>;
  /** In place of this host, if the client's id is no URL. */
  readonly noClientHost?: PageText<SignInView | ConsentView>;
  /** In place of this host, if the server's operator has listed the client. */
  readonly listedClient?: PageText<SignInView | ConsentView>;
  /** Labels the host that the answer goes to. */
  readonly redirectHost?: PageText<SignInView | ConsentView>;
  readonly account?: PageText<ConsentView>;
  readonly switchAccount?: PageText<ConsentView>;
  readonly scopesTitle?: PageText<ConsentView>;
  /** Above what an upstream is asked for. */
  readonly upstreamTitle?: PageText<ConsentView>;
  readonly loopbackTitle?: PageText<ConsentView>;
  readonly loopbackWarning?: PageText<ConsentView>;
  readonly remember?: PageText<ConsentView>;
  readonly allow?: PageText<ConsentView>;
  readonly deny?: PageText<ConsentView>;
  readonly lockedTitle?: PageText<LockedView>;
  readonly lockedMessage?: PageText<LockedView>;
}

/** All texts of the pages. */
export type AllTexts = Required<PageTexts>;

const minutes = ({ retryAfter }: LockedView): string => {
  const count = Math.ceil(retryAfter / 60);
  return count === 1 ? 'a minute' : `${count} minutes`;
};

const DEFAULTS: AllTexts = {
  lang: 'en',
  signInTitle: 'Sign in',
  signInLead: 'You were sent here by an app. It calls itself',
  username: 'User name',
  password: 'Password',
  signIn: 'Sign in',
  wrong: 'The user name or the password is wrong.',
  consentTitle: 'Allow access?',
  consentLead: 'An app asks to act for you. It calls itself',
  unnamed: '(no name)',
  clientHost: 'Comes from',
  noClientHost: 'Unknown. Any app can use this name',
  listedClient: "This server's own list of apps",
  redirectHost: 'Sends you to',
  account: 'Your account',
  switchAccount: 'Use another account',
  scopesTitle: 'It will be able to',
  upstreamTitle: ({ upstream: { name, scopes } = { name: '', scopes: [] } }) =>
    scopes.length === 0 ? `You sign in at ${name} next` : `At ${name}, this server will ask for`,
  loopbackTitle: 'Did you start this yourself?',
  loopbackWarning:
    'The app runs on this computer, where any program can pretend to be it. ' +
    'Allow this only if you have just connected the app yourself.',
  remember: ({ mayRemember }) =>
    mayRemember === 1 ? "Don't ask again for a day" : `Don't ask again for ${mayRemember} days`,
  allow: 'Allow',
  deny: 'Deny',
  lockedTitle: 'Too many attempts',
  lockedMessage: (view) => `Try again in ${minutes(view)}.`,
};

/** What functions are tried with at startup. */
const SAMPLE: SignInView & ConsentView & LockedView = {
  action: '/',
  csrf: 'csrf',
  client: { name: 'App', redirectHost: '127.0.0.1', isLoopbackOnly: true },
  scopes: ['Use this server'],
  upstream: { name: 'Upstream', scopes: [] },
  mayRemember: 30,
  retryAfter: 900,
};

const invalid = (name: string, problem: string) =>
  startupError('DECORUM_INVALID_OPTION', 'authorizationServer', `texts.${name}`, problem);

function requireText(name: string, text: unknown): void {
  if (text === undefined) return;
  if (typeof text !== 'string' && typeof text !== 'function') throw invalid(name, 'must be a string or a function');
  const said = typeof text === 'string' ? text : tried(name, text as (view: typeof SAMPLE) => unknown);
  if (typeof said !== 'string') throw invalid(name, 'is a function that returns no string');
  if (said.trim() === '') throw invalid(name, 'is empty. Leave it out to keep the default');
}

function tried(name: string, text: (view: typeof SAMPLE) => unknown): unknown {
  try {
    return text(SAMPLE);
  } catch (error) {
    throw invalid(name, `is a function that throws: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function requireLang(lang: unknown): void {
  if (lang === undefined) return;
  try {
    if (typeof lang === 'string' && Intl.getCanonicalLocales(lang).length === 1) return;
  } catch {
    // the tag is not well-formed
  }
  throw invalid('lang', 'must be a language tag, such as "de"');
}

/**
 * Checks replaced texts, and adds the others.
 * @throws {DecorumError} `DECORUM_INVALID_OPTION`
 */
export function resolveTexts(texts: PageTexts = {}): AllTexts {
  const types = Object.fromEntries(Object.keys(DEFAULTS).map((name) => [name, true])) as OptionTypes;
  if (!isObject(texts))
    throw startupError('DECORUM_INVALID_OPTION', 'authorizationServer', 'texts', 'must be an object');
  requireOptions('authorizationServer.texts', texts, types);
  const { lang, ...others } = texts;
  requireLang(lang);
  for (const [name, text] of Object.entries(others)) requireText(name, text);
  const given = Object.entries(texts).filter(([, text]) => text !== undefined);
  return { ...DEFAULTS, ...Object.fromEntries(given) };
}
