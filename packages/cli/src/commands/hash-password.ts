import { Command } from 'commander';

const INPUT = `
On a terminal, it asks for the password twice and shows nothing of it.
Otherwise, it reads one line from stdin.`;

/** `decorum hash-password` */
export function hashPasswordCommand(): Command {
  return new Command('hash-password')
    .description('Hashes a password for a file of users')
    .addHelpText('after', INPUT)
    .action(async () => {
      const { readPassword } = await import('../hash-password/read-password.js');
      const { hashPassword } = await import('../hash-password/password-hash.js');
      process.stdout.write(`${await hashPassword(await readPassword())}\n`);
    });
}
