/**
 * Reads workflows from pasted YAML or JSON with the lines of their fields. Import it lazily: the parser is
 * large.
 */
import { LineCounter, parseAllDocuments, type Document } from 'yaml';
import type { WorkflowSpec } from '../../api/workflow.ts';
import { WORKFLOWS, type ObjectMeta } from '../kube/resources.ts';
import { yamlText } from '../ui/yamlText.ts';
import { keptMarks, type Manifest } from './manifest.ts';
import { isRecord } from '../../api/record.ts';

export type ReadWorkflow = {
  /** Empty if the text has no name. */
  name: string;
  marks: Pick<ObjectMeta, 'labels' | 'annotations'>;
  spec: WorkflowSpec;
  /** The line, from 1, of a field such as `spec.nodes[1].webhook`, or of its nearest parent. */
  lineOf: (field: string) => number | undefined;
};

export type Reading =
  | {
      ok: true;
      workflows: ReadWorkflow[];
      /** Other objects in the text, which are not created: "Credential model". */
      others: string[];
    }
  | { ok: false; line?: number; message: string }
  /** A workflow of n8n, which the command line imports. */
  | { ok: false; isN8n: true };

export function readDocuments(text: string): Reading {
  if (/^\s*(?:\$\s+)?curl\s/.test(text)) return curl;
  const lines = new LineCounter();
  const documents = parseAllDocuments(text, { lineCounter: lines, prettyErrors: false });
  if (!Array.isArray(documents)) return nothing;
  const [error] = documents.flatMap(({ errors }) => errors);
  if (error !== undefined)
    return { ok: false, line: lines.linePos(error.pos[0]).line, message: error.message };
  const read = documents.map((document) => readDocument(document, lines));
  const workflows = read.flatMap((one) => (one.what === 'workflow' ? [one.workflow] : []));
  const refusal = read.find((one) => one.what === 'refused');
  if (workflows.length === 0) return refusal === undefined ? nothing : refusal.reading;
  return { ok: true, workflows, others: read.flatMap((one) => (one.what === 'other' ? [one.name] : [])) };
}

/** A manifest as YAML. */
export function manifestText(manifest: Manifest): string {
  return yamlText(manifest);
}

const nothing: Reading = {
  ok: false,
  message: 'No workflow of Windlass found: it has "kind: Workflow", or at least "nodes".',
};

const curl: Reading = {
  ok: false,
  message:
    'This is a curl command. Create a new workflow, and paste it on the canvas: it becomes an HTTP request.',
};

type Read =
  | { what: 'workflow'; workflow: ReadWorkflow }
  | { what: 'other'; name: string }
  | { what: 'refused'; reading: Reading }
  | { what: 'empty' };

function readDocument(document: Document.Parsed, lines: LineCounter): Read {
  const value = valueOf(document);
  if (!isRecord(value)) return { what: 'empty' };
  if (isRecord(value['connections'])) return { what: 'refused', reading: { ok: false, isN8n: true } };
  const metadata = isRecord(value['metadata']) ? value['metadata'] : {};
  const name = typeof metadata['name'] === 'string' ? metadata['name'] : '';
  const isBare = value['kind'] === undefined && Array.isArray(value['nodes']);
  if (value['kind'] !== WORKFLOWS.kind && !isBare)
    return {
      what: 'other',
      name: `${typeof value['kind'] === 'string' ? value['kind'] : 'object'} ${name}`.trim(),
    };
  const spec = isBare ? value : value['spec'];
  if (!isRecord(spec)) return refused('The workflow has no spec.');
  return {
    what: 'workflow',
    workflow: {
      name,
      marks: keptMarks({
        labels: textsOf(metadata['labels']),
        annotations: textsOf(metadata['annotations']),
      }),
      spec: spec as WorkflowSpec,
      lineOf: (field) => lineOf(document, lines, pathOf(field).slice(isBare ? 1 : 0)),
    },
  };
}

/** Nested aliases could exhaust the memory: the parser throws, which is reported as an error. */
function valueOf(document: Document.Parsed): unknown {
  try {
    return document.toJS({ maxAliasCount: 100 });
  } catch {
    return undefined;
  }
}

function refused(message: string): Read {
  return { what: 'refused', reading: { ok: false, message } };
}

/** `spec.nodes[1].webhook` as steps from the root. */
function pathOf(field: string): (string | number)[] {
  return [...field.matchAll(/\[(\d+)\]|[^.[\]]+/g)].map(([part, index]) =>
    index === undefined ? part : Number(index),
  );
}

function lineOf(
  document: Document.Parsed,
  lines: LineCounter,
  path: (string | number)[],
): number | undefined {
  for (let length = path.length; length > 0; length -= 1) {
    const node = document.getIn(path.slice(0, length), true);
    if (isRecord(node) && Array.isArray(node['range'])) return lines.linePos(Number(node['range'][0])).line;
  }
  return undefined;
}

function textsOf(value: unknown): Record<string, string> {
  if (!isRecord(value)) return {};
  return Object.fromEntries(
    Object.entries(value).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  );
}
