import { spawn } from 'node:child_process';

/** The program that opens URLs, for each platform. None of them is a shell. */
const OPENERS: { readonly [platform in NodeJS.Platform]?: readonly string[] } = {
  darwin: ['open'],
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
};

/** Whether a page may be opened: a server chooses the URL, and other schemes start other programs. */
const isPage = (url: string): boolean => URL.canParse(url) && /^https?:$/.test(new URL(url).protocol);

/** Opens a page in the user's browser. If there is none, the user has the printed URL. */
export function openInBrowser(url: string): void {
  if (!isPage(url)) return;
  const [command = 'xdg-open', ...args] = OPENERS[process.platform] ?? [];
  // `href` has no spaces, quotes and control characters
  const child = spawn(command, [...args, new URL(url).href], { stdio: 'ignore', detached: true });
  child.once('error', () => {});
  child.unref();
}
