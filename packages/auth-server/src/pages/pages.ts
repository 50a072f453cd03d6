import { cleanName, cleanText } from './clean-name.js';
import { Html, markup } from './markup.js';
import { STYLE } from './style.js';
import { type AllTexts, type PageText, type PageTexts, resolveTexts } from './texts.js';
import {
  type ClientView,
  type ConsentView,
  DECISIONS,
  FIELDS,
  type LockedView,
  type MessageView,
  type SignInView,
} from './views.js';

type TextName<View> = {
  [Name in keyof AllTexts]: AllTexts[Name] extends PageText<infer Needs> ? (View extends Needs ? Name : never) : never;
}[keyof AllTexts];

/** One row of facts: what it is, and its value. */
const row = (label: string, value: Html): Html => markup`<div><dt>${label}</dt><dd>${value}</dd></div>`;

/** Text from elsewhere, whose direction must not change the text around it. */
const foreign = (text: string): Html => markup`<bdi>${cleanText(text)}</bdi>`;

const list = (items: readonly string[]): Html | undefined =>
  items.length === 0 ? undefined : markup`<ul>${items.map((item) => markup`<li>${foreign(item)}</li>`)}</ul>`;

const FOCUS = markup` autofocus`;

const checkbox = (label: string): Html => {
  const input = markup`<input type="checkbox" name="${FIELDS.remember}" value="yes">`;
  return markup`<label class="check">${input}<span>${label}</span></label>`;
};

/** A button that submits the form with a decision. */
const decision = (name: keyof typeof DECISIONS, label: string, style = 'other'): Html =>
  markup`<button class="${style}" type="submit" name="${FIELDS.decision}" value="${DECISIONS[name]}">${label}</button>`;

/** A longer URI is cut: what matters is its host, which is shown whole. */
const MAX_URI = 120;

/** The client as pages show it, also to functions of `texts`. */
function cleanClient(client: ClientView): ClientView {
  const { name, host, redirectHost, redirectUri } = client;
  return {
    ...client,
    name: cleanName(name),
    host: host === undefined ? undefined : cleanText(host),
    redirectHost: cleanText(redirectHost),
    redirectUri: redirectUri === undefined ? undefined : cleanName(redirectUri, MAX_URI),
  };
}

/** Writes the pages that users see. They are whole HTML documents, without scripts. */
export class Pages {
  private readonly texts: AllTexts;

  /** @throws {DecorumError} `DECORUM_INVALID_OPTION`, if a text is of the wrong type */
  constructor(texts?: PageTexts) {
    this.texts = resolveTexts(texts);
  }

  /** The page where a user signs in. */
  signIn(given: SignInView): string {
    const view = { ...given, client: cleanClient(given.client) };
    const say = this.sayer(view);
    const { username = '' } = view;
    const isWrong = view.problem === 'wrong';
    const described = isWrong ? markup` aria-invalid="true" aria-describedby="problem"` : undefined;
    const title = say('signInTitle');
    return this.document(
      isWrong ? `${say('wrong')} ${title}` : title,
      markup`<h1>${title}</h1>
${this.claim(view, say('signInLead'))}
<dl>${this.whereabouts(view)}</dl>
<form method="post" action="${view.action}">
<input type="hidden" name="${FIELDS.csrf}" value="${view.csrf}">
${isWrong ? markup`<p class="wrong" id="problem" role="alert">${say('wrong')}</p>` : undefined}
<div class="field"><label for="username">${say('username')}</label>
<input id="username" name="${FIELDS.username}" value="${username}" autocomplete="username" autocapitalize="none"
 spellcheck="false" maxlength="320" required${described}${username === '' ? FOCUS : undefined}></div>
<div class="field"><label for="password">${say('password')}</label>
<input id="password" name="${FIELDS.password}" type="password" autocomplete="current-password"
 maxlength="4096" required${described}${username === '' ? undefined : FOCUS}></div>
<div class="actions"><button class="primary" type="submit">${say('signIn')}</button></div>
</form>`,
    );
  }

  /** The page where a user allows a client to act. */
  consent(given: ConsentView): string {
    const account = given.account === undefined ? undefined : cleanName(given.account);
    const view = { ...given, account, client: cleanClient(given.client) };
    const say = this.sayer(view);
    const { upstream } = view;
    // any program could use the remembered answer
    const mayRemember = view.client.isLoopbackOnly ? undefined : view.mayRemember;
    const title = say('consentTitle');
    return this.document(
      title,
      markup`<h1>${title}</h1>
${this.claim(view, say('consentLead'))}
<form method="post" action="${view.action}">
<input type="hidden" name="${FIELDS.csrf}" value="${view.csrf}">
<dl>${this.whereabouts(view)}${account === undefined ? undefined : this.account(view, account)}</dl>
<section><h2>${say('scopesTitle')}</h2>${list(view.scopes)}</section>
${upstream && markup`<section><h2>${say('upstreamTitle')}</h2>${list(upstream.scopes)}</section>`}
${view.client.isLoopbackOnly ? this.warning(view) : undefined}
${mayRemember === undefined ? undefined : checkbox(say('remember'))}
<div class="actions">
${decision('allow', say('allow'), 'primary')}
${decision('deny', say('deny'))}
</div>
</form>`,
    );
  }

  /** The page for somebody who has failed too often. */
  locked(view: LockedView): string {
    const say = this.sayer(view);
    return this.message({ title: say('lockedTitle'), message: say('lockedMessage') });
  }

  /** A page that only tells something, such as an error. */
  message({ title, message }: MessageView): string {
    const heading = cleanText(title);
    return this.document(heading, markup`<h1>${heading}</h1>\n<p>${foreign(message)}</p>`);
  }

  /** A function that says one of the texts. */
  private sayer<View>(view: View): (name: TextName<View>) => string {
    return (name) => {
      const text = this.texts[name] as PageText<View>;
      return cleanText(typeof text === 'string' ? text : text(view));
    };
  }

  /** The client's name as what it is: something that it says of itself. */
  private claim(view: SignInView | ConsentView, lead: string): Html {
    return markup`<p>${lead}</p>
<p class="name"><bdi>${view.client.name || this.sayer(view)('unnamed')}</bdi></p>`;
  }

  private whereabouts(view: SignInView | ConsentView): Html {
    const say = this.sayer(view);
    const { host, isListed, redirectHost, redirectUri } = view.client;
    const unpublished = say(isListed ? 'listedClient' : 'noClientHost');
    const published = host === undefined ? markup`${unpublished}` : foreign(host);
    const exactly = redirectUri === undefined ? undefined : markup`<br><small>${foreign(redirectUri)}</small>`;
    const redirect = markup`${foreign(redirectHost)}${exactly}`;
    return markup`${row(say('clientHost'), published)}${row(say('redirectHost'), redirect)}`;
  }

  private account(view: ConsentView, account: string): Html {
    const say = this.sayer(view);
    const other = view.keepsAccount
      ? undefined
      : markup`<br>${decision('switchAccount', say('switchAccount'), 'link')}`;
    return row(say('account'), markup`<bdi>${account}</bdi>${other}`);
  }

  private warning(view: ConsentView): Html {
    const say = this.sayer(view);
    return markup`<section class="warning"><h2>${say('loopbackTitle')}</h2><p>${say('loopbackWarning')}</p></section>`;
  }

  private document(title: string, main: Html): string {
    return markup`<!doctype html>
<html lang="${this.texts.lang}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${title}</title>
<style>${new Html(STYLE)}</style>
</head>
<body dir="auto">
<main>
${main}
</main>
</body>
</html>
`.source;
  }
}
