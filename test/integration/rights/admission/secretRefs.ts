/**
 * Whoever names a Secret in a credential or a webhook, or changes where it goes, needs the right to read it.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import type { Resource } from '../../../../kube/resource.ts';
import { credentials, workflows } from '../../../../operator/shared/resources.ts';
import { ref, smtp, webhook, type Attempts, type Spec } from './harness.ts';

type Schema = { properties?: Record<string, Schema>; items?: Schema; pattern?: string };
type Crd = { spec: { versions: { schema: { openAPIV3Schema: Schema } }[] } };

async function specOf(crd: string): Promise<Schema> {
  const text = await readFile(join(import.meta.dirname, `../../../../crds/${crd}.yaml`), 'utf8');
  return (parse(text) as Crd).spec.versions[0]?.schema.openAPIV3Schema.properties?.['spec'] ?? {};
}

/** The paths of all that names a Secret in a spec: `smtp.passwordRef`, `webhook.auth.hmac.secretRefs`. */
async function pathsOf(crd: string, ...below: string[]): Promise<string[][]> {
  const root = await specOf(crd);
  const walk = ({ properties = {}, items }: Schema, path: string[]): string[][] =>
    [...Object.entries(properties), ...Object.entries(items?.properties ?? {})].flatMap(([name, child]) =>
      /Refs?$/.test(name) ? [[...path, name]] : walk(child, [...path, name]),
    );
  const start = below.reduce<Schema | undefined>((schema, name) => schema?.properties?.[name], root);
  return walk(start ?? {}, []);
}

/** What else the schema wants of these kinds. */
const REQUIRED: Record<string, Spec> = {
  smtp: { host: 'mail.example.com', from: 'a@example.com', username: 'a' },
  imap: { host: 'mail.example.com', username: 'a' },
  oauth2: { clientID: 'a', preset: 'google' },
  s3: { endpoint: 'https://s3.example.com', bucket: 'abc', accessKeyIdRef: ref('one') },
  bot: { tokenRef: ref('one') },
  'http.basic': { username: 'a' },
  'http.header': { name: 'x' },
  'http.query': { name: 'x' },
  webhook: { path: 'orders' },
  'webhook.auth.hmac': { header: 'x-signature' },
  'webhook.auth.basic': { username: 'a' },
};

function nest([first = '', ...rest]: string[], value: unknown, path = ''): Spec {
  const here = path === '' ? first : `${path}.${first}`;
  const inner = rest.length === 0 ? value : { ...REQUIRED[here], ...nest(rest, value, here) };
  return { [first]: inner };
}

/** An account of each kind. */
const ACCOUNTS: Record<string, Spec> = {
  smtp: { host: 'mail.example.com', from: 'a@example.com', username: 'a', passwordRef: ref('one') },
  imap: { host: 'mail.example.com', username: 'a', passwordRef: ref('one') },
  openai: { apiKeyRef: ref('one') },
  anthropic: { apiKeyRef: ref('one') },
  oauth2: {
    preset: 'google',
    clientID: 'a',
    clientSecretRef: ref('one'),
    allowedHosts: ['www.googleapis.com'],
  },
  bot: { tokenRef: ref('one'), signingSecretRef: ref('one') },
  http: { bearer: { tokenRef: ref('one') }, allowedHosts: ['api.example.com'] },
  s3: {
    endpoint: 'https://s3.example.com',
    bucket: 'abc',
    accessKeyIdRef: ref('one'),
    secretAccessKeyRef: ref('one'),
  },
};
/** What of an account can be left out, so that the new object names fewer Secrets. */
const LEFT_OUT: Record<string, Spec> = {
  smtp: { username: null, passwordRef: null },
  oauth2: { clientSecretRef: null, allowedHosts: null },
  bot: { signingSecretRef: null },
};

/**
 * The fields of an account that say to which host, or how safely, its secrets go, each with another value, by
 * their paths.
 */
function hostFields({ properties = {} }: Schema, path: string[] = []): [path: string[], other: unknown][] {
  return Object.entries(properties).flatMap(([name, field]): [string[], unknown][] => {
    const here = [...path, name];
    if (/Refs?$/.test(name)) return [];
    if (field.properties) return hostFields(field, here);
    if (name === 'allowedHosts') return [[here, ['evil.example.com']]];
    if (name === 'port') return [[here, 4433]];
    if (name === 'tls') return [[here, 'None']];
    if (field.pattern?.startsWith('^https?:')) return [[here, 'https://evil.example.com']];
    return name === 'host' || name === 'bucket' ? [[here, 'evil.example.com']] : [];
  });
}

/** Defines the tests. The set-up of the file that calls it comes first. */
export function testSecretRefs({ tryTo, tryToPatch, make }: Attempts): void {
  /**
   * Whether the spec, which names the Secrets one and two, is refused to who may not read two and taken from
   * who may.
   */
  async function onlyReaderMay(resource: Resource, spec: Spec): Promise<boolean> {
    const refused = await tryTo('reader-of-one', resource, spec);
    return /^403 .*secrets\/two/.test(refused) && (await tryTo('reader', resource, spec)) === 'allowed';
  }

  test('every field of a credential that names a Secret asks for the right to get it', async () => {
    const paths = await pathsOf('credentials');
    expect(paths.length).toBeGreaterThanOrEqual(12);
    const wrong: string[] = [];
    for (const path of paths) {
      // The fields beside it name Secret one, so that it is this field that is refused.
      const spec = { ...nest(path, ref('two')) };
      if (path.join('.') === 's3.accessKeyIdRef')
        Object.assign(spec['s3'] as Spec, { secretAccessKeyRef: ref('one') });
      if (!(await onlyReaderMay(credentials, spec))) wrong.push(path.join('.'));
    }
    expect(wrong).toEqual([]);
  }, 60_000);

  test('every way to verify the callers of a webhook or chat asks for the right to get each Secret that it names', async () => {
    const paths = await pathsOf('workflows', 'nodes');
    expect(paths.length).toBeGreaterThanOrEqual(5);
    const wrong: string[] = [];
    for (const path of paths)
      for (const index of [0, 1, 4]) {
        const refs = Array.from({ length: 5 }, (_, at) => ref(at === index ? 'two' : 'one'));
        const spec = { nodes: [{ id: 'call', ...nest(path, refs) }] };
        if (!(await onlyReaderMay(workflows, spec))) wrong.push(`${path.join('.')}[${index}]`);
      }
    expect(wrong).toEqual([]);
  }, 60_000);

  test('a workflow that names no Secret asks for no right to read one', async () => {
    expect(await tryTo('writer', workflows, webhook())).toBe('allowed');
    expect(await tryTo('writer', workflows, { nodes: [{ id: 'start', manual: {} }] })).toBe('allowed');
  });

  test('who may not read the Secrets of a credential turns none of its hosts to another one', async () => {
    const { properties = {} } = await specOf('credentials');
    expect(Object.keys(properties).toSorted()).toEqual(Object.keys(ACCOUNTS).toSorted());
    const turned = Object.entries(properties).flatMap(([kind, schema]) =>
      hostFields(schema).map(([path, other]) => ({ kind, path, other })),
    );
    expect(turned.length).toBeGreaterThanOrEqual(22);
    const wrong: string[] = [];
    for (const { kind, path, other } of turned) {
      const name = await make(credentials, { [kind]: ACCOUNTS[kind] });
      const inner =
        path[0] === 'imap'
          ? { imap: { username: 'a', ...(nest(path, other)['imap'] as Spec) } }
          : nest(path, other);
      const alone = { spec: { [kind]: inner } };
      const without = { spec: { [kind]: { ...LEFT_OUT[kind], ...inner } } };
      const answers = [
        await tryToPatch('writer', credentials, name, alone),
        await tryToPatch('writer', credentials, name, without),
        await tryToPatch('reader-of-tokens', credentials, name, without),
      ];
      const isRefused = answers.every((answer) => /^403 .*secrets\/(one|windlass-tokens)/.test(answer));
      const mayReader = await tryToPatch('reader', credentials, name, without);
      if (!isRefused || mayReader !== 'allowed') wrong.push([kind, ...path, ...answers, mayReader].join(' '));
    }
    expect(wrong).toEqual([]);
  }, 60_000);

  test('an account cannot be taken over by whoever may read the secret of its client alone, or its tokens alone', async () => {
    const name = await make(credentials, { oauth2: ACCOUNTS['oauth2'] });
    const moved = { clientSecretRef: null, allowedHosts: null, apiURL: 'https://evil.example.com' };
    const patch = { spec: { oauth2: moved } };
    expect(await tryToPatch('reader-of-one', credentials, name, patch)).toMatch(
      /^403 .*secrets\/windlass-tokens/,
    );
    expect(await tryToPatch('reader-of-tokens', credentials, name, patch)).toMatch(/^403 .*secrets\/one/);
    const publicClient = { oauth2: { preset: 'google', clientID: 'a' } };
    expect(await tryTo('reader-of-one', credentials, publicClient)).toMatch(
      /^403 .*secrets\/windlass-tokens/,
    );
    expect(await tryTo('reader-of-tokens', credentials, publicClient)).toBe('allowed');
  });

  test('a credential that becomes one of another kind asks for the Secrets of both', async () => {
    const other = { bot: { tokenRef: ref('one'), signingSecretRef: ref('one') } };
    const two = { ...ACCOUNTS['s3'], accessKeyIdRef: ref('two'), secretAccessKeyRef: ref('three') };
    const bucket = await make(credentials, { s3: two });
    expect(await tryToPatch('reader-of-one', credentials, bucket, { spec: { s3: null, ...other } })).toMatch(
      /^403 .*secrets\/(two|three)/,
    );
    expect(await tryToPatch('reader', credentials, bucket, { spec: { s3: null, ...other } })).toBe('allowed');
    const account = await make(credentials, { oauth2: { preset: 'google', clientID: 'a' } });
    expect(
      await tryToPatch('reader-of-one', credentials, account, { spec: { oauth2: null, ...other } }),
    ).toMatch(/^403 .*secrets\/windlass-tokens/);
  });

  test('a Secret that a credential did not name before is asked for, too', async () => {
    const name = await make(credentials, smtp('one'));
    const two = { spec: { smtp: { passwordRef: ref('two') } } };
    expect(await tryToPatch('reader-of-one', credentials, name, two)).toMatch(/^403 .*secrets\/two/);
  });

  test('who may not read a Secret may change neither how a webhook is verified with it nor what it hands on', async () => {
    const name = await make(workflows, webhook({ bearer: { secretRefs: [ref('one')] } }));
    const changed = webhook({ github: { secretRefs: [ref('one')] } });
    expect(await tryToPatch('writer', workflows, name, { spec: changed })).toMatch(/^403 .*secrets\/one/);
    const headers = webhook({ bearer: { secretRefs: [ref('one')] } }, { headers: ['authorization'] });
    expect(await tryToPatch('writer', workflows, name, { spec: headers })).toMatch(/^403 .*secrets\/one/);
  });

  test('who may not read the Secrets of a webhook may not open it either, and show what its callers send', async () => {
    const name = await make(workflows, webhook({ bearer: { secretRefs: [ref('one')] } }));
    const opened = webhook(undefined, { headers: ['authorization'] });
    expect(await tryToPatch('writer', workflows, name, { spec: opened })).toMatch(/^403 .*secrets\/one/);
    expect(await tryToPatch('reader-of-one', workflows, name, { spec: opened })).toBe('allowed');
  });

  test('who may not read the Secrets of a chat may not open it to everybody', async () => {
    const budget = { day: { tokens: 1_000 } };
    const chat = (fields: Spec): Spec => ({ budget, nodes: [{ id: 'chat', chat: fields }] });
    const name = await make(workflows, chat({ tokenRefs: [ref('one')] }));
    const spec = chat({ access: 'Public' });
    expect(await tryToPatch('writer', workflows, name, { spec })).toMatch(/^403 .*secrets\/one/);
    expect(await tryToPatch('reader-of-one', workflows, name, { spec })).toBe('allowed');
  });

  test('a webhook that names five Secrets can be verified with five others', async () => {
    const refs = (letter: string) => Array.from({ length: 5 }, (_, index) => ref(`${letter}-${index}`));
    const name = await make(workflows, webhook({ bearer: { secretRefs: refs('a') } }));
    const spec = webhook({ github: { secretRefs: refs('b') } });
    expect(await tryToPatch('reader-of-one', workflows, name, { spec })).toMatch(/^403 .*secrets\/b-0/);
    expect(await tryToPatch('reader', workflows, name, { spec })).toBe('allowed');
  });

  test('what leaves the Secrets alone asks for nothing: labels, finalizers, other nodes', async () => {
    const credential = await make(credentials, smtp('one'));
    const labels = { metadata: { labels: { team: 'a' }, finalizers: ['example.com/test'] } };
    expect(await tryToPatch('writer', credentials, credential, labels)).toBe('allowed');
    const verified = webhook({ bearer: { secretRefs: [ref('one')] } });
    const workflow = await make(workflows, verified);
    expect(await tryToPatch('writer', workflows, workflow, { spec: { active: true } })).toBe('allowed');
  });
}
