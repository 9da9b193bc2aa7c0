/** What `npm test` and `npm run verify` start ends with them. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, test } from 'vitest';

const modulePath = join(import.meta.dirname, '../../../scripts/run.ts');

test('a signal ends the program that was started, and then whoever started it, who does not go on', async () => {
  const program =
    "process.on('SIGTERM', () => { console.log('told'); process.exit(); }); setInterval(() => {}, 1000); console.log(process.pid);";
  const script = `
    const { run } = await import(${JSON.stringify(modulePath)});
    await run(process.execPath, ['--eval', ${JSON.stringify(program)}]);
    console.log('goes on');`;
  const owner = spawn(process.execPath, ['--input-type=module', '--eval', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const lines: string[] = [];
  const reader = createInterface(owner.stdout).on('line', (line) => lines.push(line));
  const [pid] = (await once(reader, 'line')) as [string];
  owner.kill('SIGTERM');
  const [[, signal]] = await Promise.all([once(owner, 'exit'), once(reader, 'close')]);
  expect([signal, ...lines]).toEqual(['SIGTERM', pid, 'told']);
  expect(() => process.kill(Number(pid), 0)).toThrow('ESRCH');
});
