import { join } from 'node:path';
import { rootCertificates } from 'node:tls';
import { expect, test } from 'vitest';
import { mountSecret } from '../../test/support/cluster/mountedSecret.ts';
import { createCollectedLog } from '../../test/support/logs/collectedLog.ts';
import { createManualClock } from '../../test/support/time/manualClock.ts';
import { watchRunStoreAuthority } from './runStoreAuthorityWatch.ts';
import { createProjects } from './projects.ts';

test('a change of the authorities is notified once, within ten seconds', async () => {
  const [first = '', second = ''] = rootCertificates;
  const mount = await mountSecret({ 'ca.crt': first });
  const clock = createManualClock();
  const projects = createProjects({ REDIS_CA_FILE: join(mount.path, 'ca.crt') }, createCollectedLog());
  let changes = 0;
  projects.authorityChanged.onChange(() => (changes += 1));
  const stopping = new AbortController();
  const watching = watchRunStoreAuthority({ clock, projects }, stopping.signal);
  const pass = async (): Promise<void> => {
    await expect.poll(() => clock.timers()).toBe(1);
    await clock.advance(10_000);
    await expect.poll(() => clock.timers()).toBe(1);
  };
  await pass();
  expect(changes).toBe(0);
  await mount.update({ 'ca.crt': `${first}\n${second}` });
  await pass();
  await pass();
  expect(changes).toBe(1);
  stopping.abort();
  await watching;
  mount.remove();
});
