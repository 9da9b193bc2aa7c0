/**
 * Checks manifests that are applied together: YAML, then each object as the API server would, then workflows
 * as the operator would.
 */
import { VARIABLES_NAME } from '../../api/expression/variables.ts';
import type { Credential } from '../../api/kinds.ts';
import { variablesIn } from '../../api/variables.ts';
import type { WorkflowSpec } from '../../api/workflow.ts';
import { checkObject, isOurs } from '../schema/object.ts';
import { isRecord } from '../../api/record.ts';
import type { Path } from '../schema/types.ts';
import { parseManifests, type Manifest } from '../shared/manifests.ts';
import type { Source } from '../shared/sources.ts';
import { sortFindings, type Finding, type Severity } from './finding.ts';
import { workflowFindings, type Project } from './workflows.ts';

export type Report = {
  findings: Finding[];
  /** The number of our objects. */
  objects: number;
  /** Objects of other groups whose kind has the name of one of ours, such as `Workflow` of `argoproj.io`. */
  namesakes: string[];
};

/** A valid workflow, to be checked when all objects are known. */
type Admitted = { file: string; name: string; spec: WorkflowSpec; namespace: string; manifest: Manifest };

type OpenProject = {
  workflows: Map<string, WorkflowSpec>;
  credentials: Map<string, Credential>;
  variables?: Project['variables'];
};

export class Linter {
  readonly #findings: Finding[] = [];
  readonly #admitted: Admitted[] = [];
  readonly #projects = new Map<string, OpenProject>();
  /** Where an object is in its file. Overlays may have those of their base again. */
  readonly #lines = new Map<string, number>();
  readonly #namesakes = new Set<string>();
  #objects = 0;

  /** Checks the text of one file. */
  add({ file, text }: Source): void {
    const { manifests, problems } = parseManifests(text);
    for (const { message, ...place } of problems)
      this.#findings.push({ file, ...place, severity: 'error', rule: 'YAML', message });
    for (const manifest of manifests) this.#addObject(file, manifest);
  }

  /** Checks the workflows with each other. Everything that was found, in order. */
  async finish(onChecked: (done: number, all: number) => void = () => undefined): Promise<Report> {
    for (const [index, { file, name, spec, namespace, manifest }] of this.#admitted.entries()) {
      const found = await workflowFindings(name, spec, this.#project(namespace));
      for (const { path, ...rest } of found)
        this.#findings.push({ file, ...manifest.place(path), ...rest, object: `Workflow/${name}` });
      onChecked(index + 1, this.#admitted.length);
    }
    const findings = sortFindings(this.#findings);
    return { findings, objects: this.#objects, namesakes: [...this.#namesakes] };
  }

  #addObject(file: string, manifest: Manifest): void {
    const { value } = manifest;
    if (!isOurs(value)) {
      this.#noteOther(value);
      return;
    }
    this.#objects += 1;
    const { name, namespace } = metadataOf(value);
    const object = `${String(value['kind'])}/${name}`;
    const note = (severity: Severity, rule: string, message: string, path: Path, isName = false) => {
      const place = isName ? manifest.placeOfName(path) : manifest.place(path);
      this.#findings.push({ file, ...place, severity, rule, message, object });
    };
    const { problems, stored } = checkObject(value);
    for (const { path, message, isName } of problems) note('error', 'Schema', message, path, isName);
    for (const { name: written, stored: asStored, ...place } of manifest.booleanNames())
      this.#findings.push({
        file,
        ...place,
        severity: 'warning',
        rule: 'YAML',
        message: `kubectl stores the name ${written} as "${asStored}": put quotes around it`,
        object,
      });
    if (stored) this.#admit(stored, { file, name, namespace, manifest });
    const { line } = manifest.place(['metadata', 'name']);
    const key = `${file}: ${namespace}/${object}`;
    const before = this.#lines.get(key);
    if (before === undefined) this.#lines.set(key, line);
    else note('error', 'Repeated', `line ${before} has the same object: remove one`, ['metadata', 'name']);
    if (stored?.['kind'] === 'Workflow' && !saysActive(value))
      note('warning', 'Inactive', INACTIVE, ['spec']);
  }

  #admit(stored: Record<string, unknown>, admitted: Omit<Admitted, 'spec'>): void {
    const { workflows, credentials } = this.#project(admitted.namespace);
    const { kind, spec } = stored;
    if (kind === 'Credential') credentials.set(admitted.name, stored as Credential);
    if (kind !== 'Workflow') return;
    workflows.set(admitted.name, spec as WorkflowSpec);
    this.#admitted.push({ ...admitted, spec: spec as WorkflowSpec });
  }

  #project(namespace: string): OpenProject {
    const known = this.#projects.get(namespace);
    if (known) return known;
    const project: OpenProject = { workflows: new Map(), credentials: new Map() };
    this.#projects.set(namespace, project);
    return project;
  }

  /** The variables of a project, and what may be meant for us. */
  #noteOther(value: Record<string, unknown>): void {
    const { apiVersion, kind, data } = value;
    const { name, namespace } = metadataOf(value);
    if (apiVersion === 'v1' && kind === 'ConfigMap' && name === VARIABLES_NAME)
      this.#project(namespace).variables = variablesIn(textsIn(data));
    if (kind === 'Workflow' || kind === 'WorkflowRun')
      this.#namesakes.add(`${kind} of ${String(apiVersion)}`);
  }
}

const INACTIVE =
  'the workflow is inactive: its trigger starts no runs until you set spec.active to true. Write active: false to say so on purpose';

function saysActive({ spec }: Record<string, unknown>): boolean {
  return isRecord(spec) && typeof spec['active'] === 'boolean';
}

function metadataOf({ metadata }: Record<string, unknown>): { name: string; namespace: string } {
  const { name, generateName, namespace } = isRecord(metadata) ? metadata : {};
  return { name: textOr(name, textOr(generateName, '')), namespace: textOr(namespace, '') };
}

const textOr = (value: unknown, other: string): string => (typeof value === 'string' ? value : other);

function textsIn(data: unknown): Record<string, string> {
  if (!isRecord(data)) return {};
  return Object.fromEntries(
    Object.entries(data).filter((each): each is [string, string] => typeof each[1] === 'string'),
  );
}
