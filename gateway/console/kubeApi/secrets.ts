/**
 * Redacts Secrets for browsers: metadata, type and names of keys, never a value. Annotations are left out,
 * since `kubectl apply` copies all values into one, and so are error messages that quote a Secret.
 */
import { requestTarget, type AllowedRequest } from './allowlist.ts';
import { acceptHeader, type Form } from './forms.ts';
import { membersOf } from '../../../api/record.ts';

type Json = Record<string, unknown>;

const SHOWN_METADATA = [
  'name',
  'namespace',
  'uid',
  'resourceVersion',
  'creationTimestamp',
  'deletionTimestamp',
  'labels',
  'ownerReferences',
];

/** Lists are limited, since they are read whole. */
const PAGE = 500;

/** The request to the API server; a list asks for no objects. */
export function redactedTarget(asked: AllowedRequest): { path: string; accept: string } {
  if (asked.verb !== 'list')
    return { path: requestTarget(asked), accept: acceptHeader('object', asked.verb) };
  const query = new URLSearchParams(asked.query);
  query.set('includeObject', 'None');
  const limit = Number(query.get('limit'));
  if (!(limit > 0 && limit <= PAGE)) query.set('limit', String(PAGE));
  return { path: requestTarget({ path: asked.path, query }), accept: acceptHeader('table', 'list') };
}

/** The redacted answer: Secrets, or a Status. Throws for anything else. */
export function redactedAnswer(asked: AllowedRequest, { form, text }: { form: Form; text: string }): string {
  const answer: unknown = JSON.parse(text);
  const { kind } = membersOf(answer);
  if (kind === 'Status') return isOfPatched(answer) ? JSON.stringify(redactedStatus(answer)) : text;
  const namespace = asked.path.split('/')[4] ?? '';
  if (asked.verb === 'list' && kind === 'Table')
    return JSON.stringify((form === 'table' ? redactedTable : redactedSecrets)(answer, namespace));
  if (asked.verb !== 'list' && kind === 'Secret') return JSON.stringify(redactedSecret(answer));
  throw new Error('Unexpected answer of the API server.');
}

/**
 * Whether the Status refuses a patched Secret: it then quotes the whole Secret, with values and annotations.
 */
function isOfPatched(status: unknown): boolean {
  const { reason, details } = membersOf(status);
  const causes = list(membersOf(details)['causes']);
  return (
    reason === 'Invalid' &&
    (causes.length === 0 || causes.some((cause) => membersOf(cause)['field'] === 'patch'))
  );
}

const NO_SECRET = 'The patch does not make a Secret: a field is unknown, or its value is not of its type.';

function redactedStatus(status: unknown): Json {
  const { kind, apiVersion, status: outcome, reason, code } = membersOf(status);
  return { kind, apiVersion, metadata: {}, status: outcome, message: NO_SECRET, reason, code };
}

/** One Secret. */
function redactedSecret(secret: unknown): Json {
  const { metadata, type, data, immutable } = membersOf(secret);
  const shown = Object.entries(membersOf(metadata)).filter(([name]) => SHOWN_METADATA.includes(name));
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: Object.fromEntries(shown),
    ...(typeof type === 'string' && { type }),
    ...(immutable === true && { immutable }),
    keys: Object.keys(membersOf(data)).toSorted(),
  };
}

/** A list of Secrets with name and type, from a Table without objects. */
function redactedSecrets(table: unknown, namespace: string): Json {
  const items = rowsOf(table).map(({ name, type }) => ({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name, namespace },
    type,
  }));
  return { apiVersion: 'v1', kind: 'SecretList', metadata: pageOf(table), items };
}

/** The same as a Table. */
function redactedTable(table: unknown, namespace: string): Json {
  const rows = rowsOf(table).map(({ name, type }) => ({
    cells: [name, type],
    object: { apiVersion: 'meta.k8s.io/v1', kind: 'PartialObjectMetadata', metadata: { name, namespace } },
  }));
  const columnDefinitions = ['Name', 'Type'].map((name) => ({ name, type: 'string' }));
  return { apiVersion: 'meta.k8s.io/v1', kind: 'Table', metadata: pageOf(table), columnDefinitions, rows };
}

function rowsOf(table: unknown): { name: string; type: string }[] {
  const { columnDefinitions, rows } = membersOf(table);
  const columns = list(columnDefinitions).map((column) => membersOf(column)['name']);
  return list(rows).map((row) => {
    const cells = list(membersOf(row)['cells']);
    return { name: String(cells[columns.indexOf('Name')]), type: String(cells[columns.indexOf('Type')]) };
  });
}

function pageOf(table: unknown): Json {
  const { resourceVersion, continue: token, remainingItemCount } = membersOf(membersOf(table)['metadata']);
  return { resourceVersion, ...(token !== undefined && { continue: token }), remainingItemCount };
}

function list(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}
