/**
 * Compares the CPU time in which a document starts with that of the parser alone: `node test/openapi/start-cost.js FILE`
 * after `npm run build`. Each is measured in a process of its own.
 */
import { spawnSync } from 'node:child_process';

const PROGRAMS = {
  parser: "import { validate } from '@readme/openapi-parser'; await validate(process.argv[1]);",
  start: `import { McpServer } from '@decorum/core'; import { openapi } from '@decorum/openapi';
    const source = await openapi(process.argv[1], { baseUrl: 'https://api.example.com', headers: {} });
    new McpServer({ name: 'cost', version: '1.0.0', providers: [source] });`,
};
const COST = 'const { user, system } = process.cpuUsage(); console.log((user + system) / 1000);';

const [file = ''] = process.argv.slice(2);
const packages = new URL('../../packages/openapi', import.meta.url);
for (const [name, program] of Object.entries(PROGRAMS)) {
  const runs = Array.from({ length: 5 }, () => {
    const args = ['--input-type=module', '-e', program + COST, file];
    return Number(spawnSync(process.execPath, args, { cwd: packages, encoding: 'utf8' }).stdout);
  });
  process.stdout.write(`${name} ${Math.round(Math.min(...runs))} ms\n`);
}
