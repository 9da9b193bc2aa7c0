/**
 * Imports workflows of n8n: pure, without input or output. Never throws, whatever it is given. Everything
 * that is written passes the checks of the operator, and no node of the original is dropped.
 *
 * `model/` reads an export. `workflow/split.ts` makes a unit for each trigger, `workflow/unit.ts` converts
 * it: `graph.ts` and `repeats.ts` order its nodes, `loopGroups.ts` makes its loops, `specGraph.ts` collects
 * nodes and edges. `nodes/register.ts` finds the converter of each node, in `nodes/`, `triggers/`, `apps/`
 * (services) or `ai/` (language models). Converters use `steps/`;
 * `expressions/` turns n8n's expressions into references or JavaScript, and `shim/` has what that JavaScript
 * expects. `workflow/check.ts` replaces what the operator would refuse, `credentials/` writes stubs of
 * Credentials, and `report/` says what became of each node.
 */
import { stringify } from 'yaml';
import type { CredentialSpec } from '../../api/credential.ts';
import type { WorkflowSpec } from '../../api/workflow.ts';
import { type Accounts, createAccounts } from './credentials/accounts.ts';
import { checkedSpec } from './workflow/check.ts';
import type { Json } from './model/json.ts';
import type { N8nNode, N8nWorkflow } from './model/n8n.ts';
import { type Coverage, type NodeReport, type Reports, coverageOf, createReports } from './report/reports.ts';
import { createNames, objectNameOf } from './model/names.ts';
import { adviceFor } from './report/advice.ts';
import { annotationOf } from './steps/placeholder.ts';
import { readExport } from './model/read.ts';
import { unitsOf } from './workflow/split.ts';
import { type Surroundings, convertUnit } from './workflow/unit.ts';

type Metadata = { name: string; annotations?: Record<string, string> };
export type ImportedDocument = { apiVersion: string; yaml: string } & (
  | { kind: 'Workflow'; metadata: Metadata; spec: WorkflowSpec }
  | { kind: 'Credential'; metadata: Metadata; spec: CredentialSpec }
);

type WorkflowReport = {
  name: string;
  /** The names of the Workflows that it became. */
  becomes: string[];
  coverage: Coverage;
  nodes: NodeReport[];
};

export type ImportReport = {
  workflows: WorkflowReport[];
  coverage: Coverage /** Why nothing was imported. */;
  problem?: string;
};

export type ImportOptions = {
  /** The name of a workflow that has none. Default: workflow. */
  fallbackName?: string;
  /** The names of other workflows of the import by their ID in n8n. */
  workflowNames?: ReadonlyMap<string, string>;
  /** The namespace of the documents. Default: none, so that kubectl chooses it. */
  namespace?: string;
};

export type Imported = { documents: ImportedDocument[]; report: ImportReport };

const API_VERSION = 'windlass.dev/v1alpha1';
const ANNOTATION_BYTES = 16_384;
const ANNOTATIONS_BYTES = 160_000;

/** Converts an export of n8n to Workflows and stubs of Credentials, and says what became of each node. */
export function convertN8n(json: unknown, options: ImportOptions = {}): Imported {
  const read = readExport(json, options.fallbackName ?? 'workflow');
  if ('problem' in read)
    return { documents: [], report: { workflows: [], coverage: coverageOf([]), problem: read.problem } };
  const accounts = createAccounts();
  const newName = createNames();
  const known = new Map([...(options.workflowNames ?? []), ...namesOf(read.workflows)]);
  const all = read.workflows.map((workflow) =>
    new Conversion(workflow, { accounts, newName, known, options }).convert(),
  );
  const credentials = accounts
    .stubs()
    .map(({ name, spec }) => documentOf({ kind: 'Credential', metadata: metadataOf(name, options), spec }));
  const reports = all.map(({ report }) => report);
  return {
    documents: [...credentials, ...all.flatMap(({ documents }) => documents)],
    report: { workflows: reports, coverage: coverageOf(reports.flatMap(({ nodes }) => nodes)) },
  };
}

/** The names that workflows of an export will have, by their ID in n8n. */
export function namesOf(workflows: readonly Pick<N8nWorkflow, 'id' | 'name'>[]): Map<string, string> {
  return new Map(
    workflows.filter(({ id }) => id !== '').map(({ id, name }) => [id, objectNameOf(name, 'workflow')]),
  );
}

type Written =
  | { kind: 'Workflow'; metadata: Metadata; spec: WorkflowSpec }
  | { kind: 'Credential'; metadata: Metadata; spec: CredentialSpec };

function documentOf(written: Written): ImportedDocument {
  const document = { apiVersion: API_VERSION, ...written };
  return { ...document, yaml: stringify(document, { lineWidth: 0, aliasDuplicateObjects: false }) };
}

const metadataOf = (name: string, { namespace }: ImportOptions): Metadata => ({
  name,
  ...(namespace !== undefined && { namespace }),
});

type Context = {
  accounts: Accounts;
  newName: (text: string, fallback: string) => string;
  known: ReadonlyMap<string, string>;
  options: ImportOptions;
};

class Conversion {
  readonly #workflow: N8nWorkflow;
  readonly #context: Context;
  readonly #reports: Reports = createReports();
  readonly #documents: ImportedDocument[] = [];
  readonly #base: string;
  readonly #names = new Map<string, string>();

  constructor(workflow: N8nWorkflow, context: Context) {
    this.#workflow = workflow;
    this.#context = context;
    this.#base = context.newName(workflow.name, 'workflow');
  }

  convert(): { documents: ImportedDocument[]; report: WorkflowReport } {
    const { units, left } = unitsOf(this.#workflow);
    for (const [name, why] of left) this.#reports.note(name, 'converted', why);
    const named = units.map((unit) => ({
      ...unit,
      name:
        unit.suffix === '' ? this.#base : this.#context.newName(`${this.#base} ${unit.suffix}`, 'workflow'),
    }));
    const shared = named.find(({ suffix }) => suffix === 'shared');
    if (shared) this.#names.set(`${this.#workflow.id || this.#workflow.name}#shared`, shared.name);
    for (const { workflow, trigger, name } of named) this.#unit(workflow, trigger, name);
    this.#reportRest();
    const nodes = this.#reports.list(this.#workflow.nodes.filter((node) => !isNote(node)));
    this.#annotateFirst(nodes);
    const becomes = this.#documents.map(({ metadata }) => metadata.name);
    return {
      documents: this.#documents,
      report: { name: this.#workflow.name, becomes, coverage: coverageOf(nodes), nodes },
    };
  }

  #unit(workflow: N8nWorkflow, trigger: string, name: string): void {
    const owners = new Map<string, string>();
    // The workflows of its tools follow it.
    const position = this.#documents.length;
    const surroundings = this.#surroundings(name, owners);
    const { spec, replaced, isWhole } = checkedSpec(convertUnit(workflow, trigger, surroundings));
    for (const { node, message } of replaced) {
      const owner = node === undefined ? undefined : owners.get(node);
      if (owner !== undefined) this.#reports.note(owner, 'manual', message);
    }
    if (!isWhole)
      for (const owner of new Set(owners.values()))
        this.#reports.note(owner, 'manual', replaced[0]?.message ?? '');
    const originals = this.#originals(workflow.nodes, owners);
    this.#documents.splice(
      position,
      0,
      documentOf({
        kind: 'Workflow',
        metadata: {
          ...metadataOf(name, this.#context.options),
          ...(Object.keys(originals).length > 0 && { annotations: originals }),
        },
        spec,
      }),
    );
  }

  #surroundings(name: string, owners: Map<string, string>): Surroundings {
    const { accounts, known, newName } = this.#context;
    return {
      credential: (node, types, host) =>
        types[0] === 'webhook' || types[0] === 'chat'
          ? `${name}-${types[0]}`
          : accounts.nameOf(node, types, host),
      workflowName: (id, cached) =>
        this.#names.get(id) ?? known.get(id) ?? objectNameOf(cached || id, 'workflow'),
      addTool: (of, inner, fields) => {
        const tool = newName(`${this.#base} ${of.name}`, 'tool');
        this.#unit(toolWorkflow(of, inner, fields), 'Called', tool);
        return tool;
      },
      note: (node, state, note) => this.#reports.note(node, state, note),
      became: (node, ids) => {
        this.#reports.became(node, ids);
        for (const id of ids) owners.set(id, node);
      },
    };
  }

  /** The parameters of nodes that were not converted, by the annotation that has them. */
  #originals(nodes: readonly N8nNode[], owners: ReadonlyMap<string, string>): Record<string, string> {
    const ids = new Map([...owners].map(([id, name]) => [name, id]));
    const manual = this.#reports.list(nodes).filter(({ state, name }) => state === 'manual' && ids.has(name));
    return annotationsOf(
      manual.map(({ name, type, parameters }) => [annotationOf(ids.get(name) ?? ''), { type, parameters }]),
    );
  }

  /** Nodes that never run in n8n, and sub-nodes that no node takes. */
  #reportRest(): void {
    const { nodes, links } = this.#workflow;
    const fed = new Set(links.map(({ from }) => from));
    const rest = nodes.filter((node) => !isNote(node) && !this.#reports.known(node.name));
    const isRest = new Set(rest.map(({ name }) => name));
    for (const node of rest) {
      const owners = links.filter(({ from, kind }) => from === node.name && kind !== 'main');
      if (owners.some(({ to }) => !isRest.has(to)))
        this.#reports.note(node.name, 'manual', `this sub-node has no counterpart: ${adviceFor(node.type)}`);
      else this.#reports.note(node.name, 'converted', neverRuns(node, owners.length > 0, fed.has(node.name)));
    }
  }

  /** The first document keeps the notes of the canvas, and what no document has. */
  #annotateFirst(nodes: readonly NodeReport[]): void {
    const [first] = this.#documents;
    if (!first) return;
    const notes = this.#workflow.nodes.filter(isNote).map(({ parameters }) => parameters['content']);
    const rest = nodes
      .filter(({ ids }) => ids.length === 0)
      .flatMap(({ name }) => this.#workflow.nodes.filter((node) => node.name === name));
    const kept = rest.map(({ name, type, parameters }) => ({ name, type, parameters }));
    const annotations = {
      ...first.metadata.annotations,
      ...annotationsOf([
        ...(notes.length > 0 ? [[annotationOf('notes'), notes] as const] : []),
        ...(kept.length > 0 ? [[annotationOf('other-nodes'), kept] as const] : []),
      ]),
    };
    if (Object.keys(annotations).length === 0) return;
    const { yaml: _yaml, apiVersion: _apiVersion, ...written } = first;
    this.#documents[0] = documentOf({ ...written, metadata: { ...first.metadata, annotations } });
  }
}

function neverRuns({ isDisabled }: N8nNode, isSubNode: boolean, isFed: boolean): string {
  const why = isDisabled
    ? 'it is disabled'
    : isSubNode
      ? 'its node never runs'
      : isFed
        ? 'no trigger leads to it'
        : 'nothing leads to it';
  return `it never runs in n8n, as ${why}: only its parameters are kept`;
}

const isNote = ({ type }: Pick<N8nNode, 'type'>): boolean => type.endsWith('.stickyNote');

/** What is too long for annotations is in the report alone, and they say so. */
function annotationsOf(entries: readonly (readonly [string, unknown])[]): Record<string, string> {
  let room = ANNOTATIONS_BYTES;
  return Object.fromEntries(
    entries.map(([name, value]) => {
      const text = JSON.stringify(value);
      const fits = Buffer.byteLength(text) <= Math.min(ANNOTATION_BYTES, room);
      const written = fits ? text : 'too long for an annotation: the report of the import has it';
      room -= Buffer.byteLength(written);
      return [name, written];
    }),
  );
}

/** The workflow of a tool: a trigger with the tool's input, and the node. */
function toolWorkflow(of: N8nNode, inner: N8nNode, fields: Json): N8nWorkflow {
  const trigger: N8nNode = {
    ...inner,
    name: 'Called',
    type: 'n8n-nodes-base.executeWorkflowTrigger',
    parameters: { toolFields: fields },
    onError: 'stop',
    retries: undefined,
    executeOnce: false,
    alwaysOutputs: false,
  };
  return {
    id: '',
    name: of.name,
    nodes: [trigger, inner],
    links: [{ from: 'Called', output: 0, to: inner.name, input: 0, kind: 'main' }],
    settings: {},
    pins: {},
  };
}
