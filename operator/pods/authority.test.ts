import { join } from 'node:path';
import { rootCertificates } from 'node:tls';
import { expect, test } from 'vitest';
import { createCollectedLog } from '../../test/support/logs/collectedLog.ts';
import { mountSecret } from '../../test/support/cluster/mountedSecret.ts';
import { createAuthorityReader } from './authority.ts';

const [first = '', second = ''] = rootCertificates;
const cut = second.slice(0, 200);

test('projects get no broken authority: the last good one stays, and the log says so once', async () => {
  const mount = await mountSecret({ 'ca.crt': first });
  const log = createCollectedLog();
  const read = createAuthorityReader({ REDIS_CA_FILE: join(mount.path, 'ca.crt') }, log);
  expect(await read()).toBe(first);
  for (const broken of [cut, `${first}\n${second.replace(/\n.{8}/, '\n')}`, `${first}\n${cut}`]) {
    await mount.update({ 'ca.crt': broken });
    expect([await read(), await read()]).toEqual([first, first]);
    expect(log.entries.splice(0)).toMatchObject([
      { level: 'error', message: 'invalid run store authorities' },
    ]);
  }
  await mount.update({ 'ca.crt': `${first}\n${second}` });
  expect(await read()).toBe(`${first}\n${second}`);
  mount.remove();
});

test('without a good authority before it, a broken one is an error that names the file', async () => {
  const mount = await mountSecret({ 'ca.crt': cut });
  const file = join(mount.path, 'ca.crt');
  const read = createAuthorityReader({ REDIS_CA_FILE: file }, createCollectedLog());
  await expect(read()).rejects.toThrow(`The certificate authorities of the run store in ${file} are invalid`);
  expect(await createAuthorityReader({}, createCollectedLog())()).toBeUndefined();
  mount.remove();
});
