/**
 * What the operator would say about valid workflows that are applied together, with the default settings of
 * an installation: its own checks say it. What depends on objects or settings from elsewhere is a warning.
 */
import type { Credential } from '../../api/kinds.ts';
import type { PriceTable } from '../../api/price.ts';
import { NO_VARIABLES, type Variables } from '../../api/expression/variables.ts';
import type { WorkflowSpec } from '../../api/workflow.ts';
import { credentialProblems } from '../../operator/credential/problems.ts';
import { credentialRefs } from '../../operator/shared/credentialRefs.ts';
import { budgetNotes } from '../../operator/workflow/checks/budgets.ts';
import { compileSources } from '../../operator/workflow/checks/code.ts';
import { exposureNotes } from '../../operator/workflow/checks/exposure.ts';
import { itemsNotes } from '../../operator/workflow/checks/items.ts';
import { validate } from '../../operator/workflow/validate.ts';
import type { Path } from '../schema/types.ts';
import type { Severity } from './finding.ts';
import { narrowPath, pathOfMessage } from './places.ts';

/** The objects of one namespace that are applied together. */
export type Project = {
  workflows: ReadonlyMap<string, WorkflowSpec>;
  credentials: ReadonlyMap<string, Credential>;
  /** Left out: the ConfigMap is not among the objects. */
  variables?: Variables;
};

export type WorkflowFinding = { severity: Severity; rule: string; message: string; path: Path };

/** Reasons that another object, or another setting of the installation, can make untrue. */
const ELSEWHERE: ReadonlySet<string> = new Set([
  'AddressForbidden',
  'CredentialMissing',
  'VariableMissing',
  'WorkflowMissing',
]);

/** What the operator knows of a credential only after a check of it. */
const UNKNOWN_OFFLINE: ReadonlySet<string> = new Set(['CredentialNotReady', 'MissingScope']);

/** What the operator would say about a workflow of the project, whose spec the API server admits. */
export async function workflowFindings(
  name: string,
  spec: WorkflowSpec,
  project: Project,
): Promise<WorkflowFinding[]> {
  const violations = await violationsOf(name, spec, project);
  const notes = [...notesOf(spec, violations.length === 0), ...failureNotes(spec, project)];
  return [
    ...violations.map(({ reason, message }) => finding(severityOf(reason), reason, message, spec)),
    ...notes.map((message) => finding('warning', 'Note', message, spec)),
  ];
}

function finding(severity: Severity, rule: string, message: string, spec: WorkflowSpec): WorkflowFinding {
  return { severity, rule, message, path: narrowPath(spec, pathOfMessage(message, spec), message) };
}

const severityOf = (reason: string): Severity => (ELSEWHERE.has(reason) ? 'warning' : 'error');

async function violationsOf(
  name: string,
  spec: WorkflowSpec,
  { workflows, credentials, variables = NO_VARIABLES }: Project,
): Promise<{ reason: string; message: string }[]> {
  const compiled = spec.nodes.some(({ code }) => code) ? await compileSources(spec) : [];
  const specOf = (of: string) => workflows.get(of);
  const ofCredentials = credentialProblems(credentialRefs(spec), (of) => credentials.get(of));
  return [
    ...validate(spec, { variables, compiled, specOf, name }),
    ...ofCredentials.filter(({ reason }) => !UNKNOWN_OFFLINE.has(reason)),
  ];
}

function notesOf(spec: WorkflowSpec, isValid: boolean): string[] {
  return [
    ...budgetNotes(spec, { prices: priceOfEachModel(spec) }),
    ...(isValid ? [...itemsNotes(spec), ...exposureNotes(spec)] : []),
  ];
}

/** An installation may know the price of any model, so that no model counts as one without a price. */
function priceOfEachModel({ nodes }: WorkflowSpec): PriceTable {
  const models = nodes.flatMap(({ agent }) =>
    agent ? [agent.model, ...(agent.fallback ?? []).map(({ model }) => model)] : [],
  );
  const price = { input: '0', output: '0', source: 'assumed', date: '2026-01-01' };
  return { currency: 'USD', models: models.map((model) => ({ model, ...price })) };
}

function failureNotes({ onFailure }: WorkflowSpec, { workflows }: Project): string[] {
  if (!onFailure || workflows.has(onFailure.workflow)) return [];
  return [
    `onFailure: workflow ${onFailure.workflow} is not among these manifests: if the namespace does not have it, a failure starts nothing.`,
  ];
}
