/** The workflows, accounts and variables of a run without a cluster, from manifests. */
import type { Credential } from '../../api/kinds.ts';
import { VARIABLES_NAME, NO_VARIABLES, type Variables } from '../../api/expression/variables.ts';
import { variablesIn } from '../../api/variables.ts';
import type { WorkflowSpec } from '../../api/workflow.ts';
import { isRecord } from '../../api/record.ts';
import { checkObject, isOurs } from '../schema/object.ts';
import { CommandError, EXIT } from '../shared/exit.ts';
import { parseManifests } from '../shared/manifests.ts';
import type { Source } from '../shared/sources.ts';

export type LocalProject = {
  workflows: ReadonlyMap<string, WorkflowSpec>;
  credentials: ReadonlyMap<string, Credential>;
  /** The keys of Secrets by their name. */
  secrets: ReadonlyMap<string, Readonly<Record<string, string>>>;
  variables: Variables;
};

type OpenProject = {
  workflows: Map<string, WorkflowSpec>;
  credentials: Map<string, Credential>;
  secrets: Map<string, Readonly<Record<string, string>>>;
  variables: Variables;
};

/**
 * The project of these manifests. Namespaces do not count: everything is in one project.
 * @throws CommandError for a manifest that the API server would refuse
 */
export function projectOf(sources: readonly Source[]): LocalProject {
  const project: OpenProject = {
    workflows: new Map(),
    credentials: new Map(),
    secrets: new Map(),
    variables: NO_VARIABLES,
  };
  for (const { file, text } of sources) {
    const { manifests, problems } = parseManifests(text);
    const [problem] = problems;
    if (problem) throw refused(`${file}:${problem.line}:${problem.column}`, problem.message);
    for (const { value, place } of manifests) {
      const [wrong] = isOurs(value) ? checkObject(value).problems : [];
      if (wrong) throw refused(`${file}:${place(wrong.path).line}`, wrong.message);
      addObject(project, value);
    }
  }
  return project;
}

function refused(place: string, message: string): CommandError {
  return new CommandError(EXIT.failed, `${place}: ${message}\nwindlass lint shows everything that is wrong.`);
}

function addObject(project: OpenProject, value: Record<string, unknown>): void {
  const name = nameOf(value);
  if (isOurs(value)) {
    const { stored } = checkObject(value);
    if (stored?.['kind'] === 'Workflow') project.workflows.set(name, stored['spec'] as WorkflowSpec);
    if (stored?.['kind'] === 'Credential') project.credentials.set(name, stored as Credential);
    return;
  }
  const { apiVersion, kind } = value;
  if (apiVersion !== 'v1') return;
  if (kind === 'Secret') project.secrets.set(name, secretValues(value));
  if (kind === 'ConfigMap' && name === VARIABLES_NAME)
    project.variables = variablesIn(textsIn(value['data']));
}

function nameOf({ metadata }: Record<string, unknown>): string {
  const name = isRecord(metadata) ? metadata['name'] : undefined;
  return typeof name === 'string' ? name : '';
}

/** `stringData` wins over `data`, as in the API server. */
function secretValues({ data, stringData }: Record<string, unknown>): Record<string, string> {
  const decoded = Object.entries(textsIn(data)).map(
    ([key, value]) => [key, Buffer.from(value, 'base64').toString('utf8')] as const,
  );
  return { ...Object.fromEntries(decoded), ...textsIn(stringData) };
}

function textsIn(data: unknown): Record<string, string> {
  if (!isRecord(data)) return {};
  const entries = Object.entries(data);
  return Object.fromEntries(entries.filter((each): each is [string, string] => typeof each[1] === 'string'));
}
