// Validates what clients and registries read before they connect, with the official JSON schemas: the Server Card of the
// extension, and `server.json` of the MCP registry.
import { readFileSync } from 'node:fs';

import { Ajv } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';

const read = (name: string): object =>
  JSON.parse(readFileSync(new URL(`../data/discovery/${name}`, import.meta.url), 'utf8')) as object;

const OPTIONS = { strict: false, formats: { uri: /^[a-z][a-z\d+.-]*:[^\s]+$/i } };

const CARD = new Ajv2020(OPTIONS).addSchema(read('server-card.schema.json'), 'card');
const judgeOfCards = CARD.compile({ $ref: 'card#/$defs/ServerCard' });
const judgeOfServers = new Ajv(OPTIONS).compile(read('server.schema.json'));

const mistakesOf = (judge: typeof judgeOfCards, value: unknown): readonly string[] => {
  judge(value);
  return (judge.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
};

/** What is wrong with a Server Card. */
export const cardMistakes = (card: unknown): readonly string[] => mistakesOf(judgeOfCards, card);

/** What is wrong with a `server.json`. */
export const serverMistakes = (server: unknown): readonly string[] => mistakesOf(judgeOfServers, server);
