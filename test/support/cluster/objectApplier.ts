/**
 * Creates and applies manifests as kubectl does, over connections that stay open: each kubectl process takes
 * half a second of processor time.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { Agent, request } from 'undici';
import { parseAllDocuments } from 'yaml';
import { withQuery, type Query } from '../../../kube/paths.ts';
import type { ApiServer } from './apiserver.ts';
import { applyWithKubectl, type ApplyTarget } from './kubectl.ts';

export type ObjectApplier = {
  /**
   * Creates the object, with strict field validation. Returns `created`, or the refusal with the sentences of
   * kubectl. kubectl itself gets what it decides alone: kinds that the server does not have, and text that is
   * not one YAML document.
   */
  create(manifest: string, target: ApplyTarget): Promise<string>;
  /**
   * Applies each object of the manifest, server-side, as the field manager `kubectl`. Returns a line for
   * each. Throws the first refusal.
   */
  apply: (namespace: string, manifest: string) => Promise<string>;
  close(): Promise<void>;
};

type ServedKind = { kind: string; name: string; namespaced: boolean };
type Cause = { field: string; message: string };
type Status = {
  reason: string;
  message: string;
  details?: { kind?: string; name?: string; causes?: Cause[] };
};
type Metadata = { name: string; namespace?: string };
type Written = { apiVersion?: string; kind?: string; metadata?: Metadata };
type Document = { apiVersion: string; kind: string; metadata: Metadata; text: string };

/** As many as kubectl makes while the server asks to wait, such as after a change of a CRD. */
const ATTEMPTS = 10;

/** Close it before the server stops. */
export function createObjectApplier(server: ApiServer): ObjectApplier {
  const { ca, auth } = server.connection;
  const agent = new Agent({ connect: { ca, cert: auth.cert, key: auth.key } });
  const kinds = new Map<string, ServedKind[]>();

  async function send(
    method: 'GET' | 'POST' | 'PATCH',
    path: string,
    body?: string,
    attempt = 1,
  ): Promise<{ isRefused: boolean; answer: unknown }> {
    const type = method === 'PATCH' ? 'application/apply-patch+yaml' : 'application/yaml';
    const headers = { accept: 'application/json', 'content-type': type };
    const answer = await request(server.url + path, {
      method,
      dispatcher: agent,
      headers,
      body: body ?? null,
    });
    const text = await answer.body.text();
    if (answer.statusCode === 429 && attempt < ATTEMPTS) {
      await delay(Number(answer.headers['retry-after'] ?? 1) * 1_000);
      return send(method, path, body, attempt + 1);
    }
    // What has no path is answered in plain text.
    const isJson = String(answer.headers['content-type']).startsWith('application/json');
    return { isRefused: answer.statusCode >= 300, answer: isJson ? JSON.parse(text) : { message: text } };
  }

  /** The path of a kind's collection. Undefined where the server does not have the kind now. */
  async function collectionOf(document: Document, namespace: string): Promise<string | undefined> {
    const { apiVersion, kind } = document;
    const base = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
    const isIt = (served: ServedKind) => served.kind === kind && !served.name.includes('/');
    if (!kinds.get(apiVersion)?.some(isIt)) {
      const { isRefused, answer } = await send('GET', base);
      kinds.set(apiVersion, isRefused ? [] : (answer as { resources: ServedKind[] }).resources);
    }
    const served = kinds.get(apiVersion)?.find(isIt);
    if (served === undefined) return undefined;
    const scope = served.namespaced ? `/namespaces/${document.metadata.namespace ?? namespace}` : '';
    return `${base}${scope}/${served.name}`;
  }

  async function applyOne(namespace: string, document: Document): Promise<string> {
    const { apiVersion, kind, metadata, text } = document;
    const collection = await collectionOf(document, namespace);
    if (collection === undefined) throw new Error(`no matches for kind "${kind}" in version "${apiVersion}"`);
    const query = { fieldManager: 'kubectl', fieldValidation: 'Strict' };
    const { isRefused, answer } = await send(
      'PATCH',
      withQuery(`${collection}/${metadata.name}`, query),
      text,
    );
    if (isRefused) throw new Error(refusalOf(answer as Status));
    return `${kind}/${metadata.name} serverside-applied`;
  }

  return {
    create: async (manifest, target) => {
      const [document, ...more] = documentsOf(manifest) ?? [];
      const collection =
        document && more.length === 0 ? await collectionOf(document, target.namespace) : undefined;
      if (collection === undefined) return applyWithKubectl(server, manifest, target);
      const query: Query = { fieldValidation: 'Strict', dryRun: target.dryRun ? 'All' : undefined };
      const { isRefused, answer } = await send('POST', withQuery(collection, query), manifest);
      if (isRefused) return refusalOf(answer as Status);
      return target.dryRun ? 'created (server dry run)' : 'created';
    },
    apply: async (namespace, manifest) => {
      const documents = documentsOf(manifest);
      if (documents === undefined) throw new Error(`this is no manifest: ${manifest}`);
      const lines: string[] = [];
      for (const document of documents) lines.push(await applyOne(namespace, document));
      return lines.join('\n');
    },
    close: () => agent.close(),
  };
}

/**
 * The objects of a manifest with the text of each, which the API server reads with the YAML library that
 * kubectl reads it with. Undefined for text that is no YAML, or no object.
 */
function documentsOf(manifest: string): Document[] | undefined {
  const found: Document[] = [];
  for (const document of parseAllDocuments(manifest, { stringKeys: true })) {
    if (document.errors.length > 0) return undefined;
    const object = document.toJS() as Written | null;
    if (object === null) continue;
    const { apiVersion, kind, metadata } = object;
    if (apiVersion === undefined || kind === undefined || metadata === undefined) return undefined;
    found.push({ apiVersion, kind, metadata, text: manifest.slice(document.range[0], document.range[2]) });
  }
  return found;
}

/** Each cause is a line, as kubectl prints them. */
function refusalOf({ reason, message, details = {} }: Status): string {
  const { kind = '', name = '', causes = [] } = details;
  if (reason !== 'Invalid' || causes.length === 0) return `Error from server (${reason}): ${message}`;
  const lines = [...new Set(causes.map((cause) => `${cause.field}: ${cause.message}`))];
  const said = lines.length === 1 ? ` ${lines[0]}` : lines.map((line) => `\n* ${line}`).join('');
  return `The ${kind} "${name}" is invalid:${said}`;
}
