/** `windlass run --local`. */
import { API_VERSION } from '../../api/group.ts';
import type { Mock } from '../../api/mock.ts';
import { parseEgressRules, type EgressRules } from '../../nodes/egress/rules.ts';
import { toRecord } from '../../runs/record/record.ts';
import type { RunState } from '../../runs/types/run.ts';
import type { Invocation } from '../shared/command.ts';
import { CommandError, EXIT, type ExitCode } from '../shared/exit.ts';
import { formatResult } from '../shared/output.ts';
import { readAllSources, readSource, type Source } from '../shared/sources.ts';
import type { Terminal } from '../shared/terminal.ts';
import { chosenWorkflow, emptyEvent, mockOf, requireMocks, splitMock, triggerInput } from './input.ts';
import { mocksFor, openCallbacks, stepsWithoutEffect } from './mocks.ts';
import { projectOf } from './project.ts';
import { executeLocally } from './run.ts';
import { requireValid } from './requireValid.ts';
import { eventLine, runLines } from './show.ts';

/** The options, as the definition of the command makes the parser check them. */
type RunOptions = {
  workflow?: string;
  input?: string;
  mock?: string[];
  credentials?: string[];
  allowEffects?: boolean;
  allowHost?: string[];
  output?: string;
};

/** Executes a workflow once, and prints what its nodes did. Fails unless the run succeeds. */
export async function execute({ values, options }: Invocation, terminal: Terminal): Promise<ExitCode> {
  const given = options as RunOptions;
  const project = projectOf(await readAllSources([...values, ...(given.credentials ?? [])], terminal));
  const { name, spec } = chosenWorkflow(project.workflows, given.workflow);
  await requireValid(name, spec, project);
  const mocks = await givenMocks(name, given.mock ?? [], terminal);
  requireMocks(name, spec, mocks);
  const input = given.input === undefined ? '' : triggerInput(spec, await source(given.input, terminal));
  const hint = given.input === undefined ? emptyEvent(spec) : undefined;
  if (hint !== undefined) terminal.tell(hint);
  for (const node of openCallbacks(name, spec, mocks))
    terminal.tell(
      `node ${node} would wait until its timeout, since nothing can call it here. Give what the caller sends with --mock ${node}=file`,
    );
  const all = mocksFor(project.workflows, mocks, given.allowEffects === true);
  const undone = stepsWithoutEffect(name, all);
  const stop = new AbortController();
  const interrupt = (): void => stop.abort();
  process.once('SIGINT', interrupt);
  try {
    const state = await executeLocally(project, {
      workflow: name,
      input,
      mocks: all,
      egress: egressRules(given.allowHost ?? []),
      onEvent: (event) => {
        const line = eventLine(event, undone, terminal.paint);
        if (line !== undefined) terminal.tell(line);
      },
      signal: stop.signal,
    });
    await printRun(state, { undone, format: given.output }, terminal);
    return state.phase === 'Succeeded' ? EXIT.ok : EXIT.failed;
  } finally {
    process.off('SIGINT', interrupt);
  }
}

async function source(file: string, terminal: Terminal): Promise<Source> {
  return { file, text: await readSource(file, terminal) };
}

function givenMocks(workflow: string, texts: readonly string[], terminal: Terminal): Promise<Mock[]> {
  return Promise.all(
    texts.map(async (text) => {
      const { file, ...place } = splitMock(text);
      return mockOf({ workflow, ...place }, await source(file, terminal));
    }),
  );
}

function egressRules(hosts: readonly string[]): EgressRules {
  try {
    return parseEgressRules(hosts, []);
  } catch (error) {
    throw new CommandError(EXIT.usage, `--allow-host: ${(error as Error).message}`, { cause: error });
  }
}

type Shown = { undone: ReadonlySet<string>; format: string | undefined };

async function printRun(
  state: RunState,
  { undone: steps, format }: Shown,
  terminal: Terminal,
): Promise<void> {
  const object = {
    apiVersion: API_VERSION,
    kind: 'WorkflowRun',
    metadata: { name: state.run },
    ...toRecord(state),
  };
  const formatted = await formatResult(format, object, `workflowrun.windlass.dev/${state.run}`);
  const reached = state.nodes.filter(
    ({ id, phase, mocked }) => (mocked ?? phase === 'Succeeded') && steps.has(id),
  );
  const undone = new Set(reached.map(({ id }) => id));
  terminal.print(formatted ?? runLines(state, undone, terminal.paint).join('\n'));
  if (undone.size > 0)
    terminal.tell(
      `not done, since effects are not allowed: ${[...undone].join(', ')}. Give an output with --mock node=file, or allow all effects with --allow-effects.`,
    );
}
