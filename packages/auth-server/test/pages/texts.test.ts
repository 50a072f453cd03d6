import { describe, expect, it } from '@jest/globals';

import { Pages } from '../../src/pages/pages.js';

const CLIENT = { name: 'Notes\u202E', host: undefined, redirectHost: 'localhost', isLoopbackOnly: true };
const VIEW = { action: '/', csrf: 'c', client: CLIENT, account: 'alice', scopes: [] };

describe('texts of pages', () => {
  it('can be replaced by texts and by functions of what the page shows, which are escaped', () => {
    const pages = new Pages({
      lang: 'de',
      allow: 'Erlauben <b>',
      consentLead: ({ client, account }) => `${client.name}.${account}`,
      deny: undefined as never,
    });
    const page = pages.consent(VIEW);
    expect(page).toContain('<html lang="de">');
    expect(page).toContain('>Erlauben &lt;b&gt;</button>');
    expect(page).toContain('<p>Notes.alice</p>');
    expect(page).toContain('>Deny</button>');
  });

  it.each([
    ['text', 'authorizationServer: `texts` must be an object'],
    [[], 'authorizationServer: `texts` must be an object'],
    [{ signinTitle: 'x' }, 'authorizationServer.texts: `signinTitle` is not an option. Write `signInTitle`'],
    [{ allow: 7 }, 'authorizationServer: `texts.allow` must be a string or a function'],
    [{ allow: ' ' }, '`texts.allow` is empty. Leave it out to keep the default'],
    [{ allow: () => 7 }, '`texts.allow` is a function that returns no string'],
    [{ allow: async () => 'x' }, '`texts.allow` is a function that returns no string'],
    [
      {
        allow: () => {
          throw new Error('no');
        },
      },
      '`texts.allow` is a function that throws: no',
    ],
    [{ lang: 'not a tag' }, '`texts.lang` must be a language tag, such as "de"'],
    [{ lang: () => 'de' }, '`texts.lang` must be a language tag'],
  ])('are checked at startup (%#): %p: %s', (texts, problem) => {
    expect(() => new Pages(texts as never)).toThrow(
      expect.objectContaining({ code: 'DECORUM_INVALID_OPTION', message: expect.stringContaining(problem) }),
    );
  });
});
