/** What the command line of a local run says: which workflow, its event, its mocks. */
import { mock, type Mock } from '../../api/mock.ts';
import { kindOf, isTriggerKind, type WorkflowSpec } from '../../api/workflow.ts';
import { parseExact } from '../../api/exact/exactNumber.ts';
import { revisionOf } from '../../api/revision.ts';
import { testingProblem } from '../../nodes/mocks.ts';
import { isRecord } from '../../api/record.ts';
import { CommandError, EXIT } from '../shared/exit.ts';
import type { Source } from '../shared/sources.ts';

/**
 * The workflow with this name, or the only one.
 * @throws CommandError if it is not clear which one is meant
 */
export function chosenWorkflow(
  workflows: ReadonlyMap<string, WorkflowSpec>,
  name: string | undefined,
): { name: string; spec: WorkflowSpec } {
  const names = [...workflows.keys()];
  if (names.length === 0) throw new CommandError(EXIT.input, 'the files have no Workflow: name one that has');
  const chosen = name ?? (names.length === 1 ? names[0] : undefined);
  const list = names.join(', ');
  if (chosen === undefined)
    throw new CommandError(
      EXIT.usage,
      `the files have several workflows: choose one with --workflow: ${list}`,
    );
  const spec = workflows.get(chosen);
  if (!spec) throw new CommandError(EXIT.usage, `the files have no workflow ${chosen}, only ${list}`);
  return { name: chosen, spec };
}

/** Triggers whose event is a body, which becomes `data_content`. */
const OF_BODY: readonly string[] = ['manual', 'webhook'];

/**
 * The output of the trigger as JSON text: for manual and webhook triggers the JSON is the body, for others it
 * has the members of the output.
 * @throws CommandError if it is not such JSON
 */
export function triggerInput(spec: WorkflowSpec, { file, text }: Source): string {
  const value = parsed(file, text);
  const node = spec.nodes.find((each) => isTriggerKind(kindOf(each)));
  const kind = node ? kindOf(node) : 'manual';
  if (OF_BODY.includes(kind)) return `{"text_content":"","data_content":${text}}`;
  if (isRecord(value) && ['text_content', 'data_content'].some((member) => member in value)) {
    const { text_content = '', data_content = {} } = value;
    return JSON.stringify({ text_content, data_content });
  }
  throw new CommandError(
    EXIT.input,
    `${file}: the event of a ${kind} trigger is an object with text_content or data_content`,
  );
}

/** A hint for a run without an event, if its trigger has no test data and a step reads the event. */
export function emptyEvent(spec: WorkflowSpec): string | undefined {
  const trigger = spec.nodes.find((each) => isTriggerKind(kindOf(each)));
  if (!trigger) return undefined;
  const kind = kindOf(trigger);
  const fields: unknown = Reflect.get(trigger, kind);
  const hasTestData = isRecord(fields) && fields['testData'] !== undefined;
  if (hasTestData || !readsNode(spec, trigger.id)) return undefined;
  return `the event is empty: the trigger ${trigger.id} has no testData. Give an event with --input event.json`;
}

/** Whether an expression or a condition names the node. */
function readsNode({ nodes, edges = [] }: WorkflowSpec, id: string): boolean {
  const text = JSON.stringify([nodes, edges]);
  return text.includes(`$('${id}')`) || new RegExp(`\\bnodes\\.${id}\\b`).test(text);
}

function parsed(file: string, text: string): unknown {
  try {
    return parseExact(text);
  } catch (error) {
    throw new CommandError(EXIT.input, `${file} is not JSON: ${(error as Error).message}`, { cause: error });
  }
}

/** A mock as `node=file` or `node/tool=file`. @throws CommandError for another form */
export function splitMock(text: string): { node: string; tool?: string; file: string } {
  const [, node = '', tool, file = ''] = /^([^=/]+)(?:\/([^=]+))?=(.+)$/.exec(text) ?? [];
  if (node === '') throw new CommandError(EXIT.usage, `--mock ${text}: write node=file or node/tool=file`);
  return { node, ...(tool !== undefined && { tool }), file };
}

/**
 * The mock that a file describes: an output, `{"error": {"reason": …}}`, or any other JSON as data_content.
 * @throws CommandError if the file is not JSON, or has a reason that no mock can have
 */
export function mockOf(place: Pick<Mock, 'workflow' | 'node' | 'tool'>, { file, text }: Source): Mock {
  const value = parsed(file, text);
  const checked = mock.safeParse({ ...place, ...resultIn(value) });
  if (checked.success) return checked.data;
  const [{ path, message } = { path: [], message: '' }] = checked.error.issues;
  throw new CommandError(EXIT.input, `${file}: ${path.join('.')}: ${message}`);
}

function resultIn(value: unknown): object {
  if (!isRecord(value)) return { output: { data_content: value } };
  if (isRecord(value['error'])) return { error: value['error'] };
  const isOutput = Object.keys(value).every((name) => OUTPUT_MEMBERS.includes(name));
  return { output: isOutput ? value : { data_content: value } };
}

const OUTPUT_MEMBERS: readonly string[] = ['text_content', 'data_content'];

/** @throws CommandError for mocks that fit no node of the workflow */
export function requireMocks(name: string, spec: WorkflowSpec, mocks: readonly Mock[]): void {
  const problem = testingProblem({ mocks: [...mocks] }, name, revisionOf(spec));
  if (problem !== undefined)
    throw new CommandError(EXIT.usage, problem.replace(/^spec\.mocks\[\d+\]: /, '--mock: '));
}
