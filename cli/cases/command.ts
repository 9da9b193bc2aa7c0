/** `windlass test`. */
import { writeFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { API_VERSION } from '../../api/group.ts';
import { VARIABLES_NAME } from '../../api/expression/variables.ts';
import type { WorkflowRun } from '../../api/kinds.ts';
import { revisionOf, type Revision } from '../../api/revision.ts';
import { casesProblem, readCases, type EvaluationCase } from '../../operator/evaluation/cases.ts';
import { judge } from '../../operator/evaluation/expectations.ts';
import { inputOf } from '../../operator/evaluation/runs.ts';
import { toRecord } from '../../runs/record/record.ts';
import { chosenWorkflow } from '../local/input.ts';
import { projectOf, type LocalProject } from '../local/project.ts';
import { executeLocally } from '../local/run.ts';
import { requireValid } from '../local/requireValid.ts';
import type { Invocation } from '../shared/command.ts';
import { CommandError, EXIT, type ExitCode } from '../shared/exit.ts';
import { readAllSources, readSource, readSources, type Source } from '../shared/sources.ts';
import type { Terminal } from '../shared/terminal.ts';
import { junitReport, type CaseResult } from './junit.ts';

const CASES = /\.test(?=\.(?:ya?ml|json)$)/i;

/** Executes the cases, and prints a line for each. Fails if one of them does. */
export async function execute({ values, options }: Invocation, terminal: Terminal): Promise<ExitCode> {
  const { with: names = [], junit } = options as { with?: string[]; junit?: string };
  const beside = await readAllSources(names, terminal);
  const results: CaseResult[] = [];
  let code: ExitCode = EXIT.ok;
  for await (const file of readSources(values, terminal, CASES)) {
    try {
      results.push(...(await testFile(file, beside, terminal)));
    } catch (error) {
      if (!(error instanceof CommandError) || error.code === EXIT.usage) throw error;
      results.push(untested(file.file, error, terminal));
      code = error.code;
    }
  }
  if (results.length === 0)
    throw new CommandError(
      EXIT.input,
      'there are no cases: name files such as orders.test.yaml, or their folder',
    );
  if (junit !== undefined) await writeReport(junit, results);
  if (lacksVariables(results) && names.length === 0)
    terminal.tell(`Variables come from the ConfigMap ${VARIABLES_NAME}: name its file with --with.`);
  terminal.tell(summaryOf(results));
  return results.some(({ failures }) => failures.length > 0) ? EXIT.failed : code;
}

const lacksVariables = (results: readonly CaseResult[]): boolean =>
  results.some(({ failures }) => failures.some((failure) => failure.includes(VARIABLES_NAME)));

/** A file whose cases were not executed; the others are. */
function untested(file: string, { message }: CommandError, terminal: Terminal): CaseResult {
  terminal.print(`${terminal.paint('red', '✗')} ${message}`);
  const workflow = basename(file)
    .replace(CASES, '')
    .replace(/\.[a-z]+$/i, '');
  return { file, workflow, name: 'cases', seconds: 0, failures: [], error: message };
}

function summaryOf(results: readonly CaseResult[]): string {
  const cases = results.filter(({ error }) => error === undefined);
  const passed = cases.filter(({ failures }) => failures.length === 0).length;
  const unread = results.length - cases.length;
  const files = unread === 1 ? '1 file' : `${unread} files`;
  return `${passed} of ${cases.length} cases passed${unread === 0 ? '' : `; the cases of ${files} were not executed`}`;
}

async function testFile(file: Source, beside: readonly Source[], terminal: Terminal): Promise<CaseResult[]> {
  const manifest = file.file.replace(CASES, '');
  if (manifest === file.file)
    throw new CommandError(EXIT.usage, `${file.file}: name a file with cases like orders.test.yaml`);
  const own = { file: manifest, text: await readSource(manifest, terminal) };
  const { name, spec } = chosenWorkflow(projectOf([own]).workflows, undefined);
  const project = projectOf([own, ...beside]);
  await requireValid(name, spec, project);
  const revision = revisionOf(spec);
  const results: CaseResult[] = [];
  for (const each of casesIn(file, name, revision)) {
    const result = {
      file: file.file,
      workflow: name,
      ...(await testCase(each, { name, revision, project })),
    };
    results.push(result);
    for (const line of linesOf(result, terminal)) terminal.print(line);
  }
  return results;
}

/** @throws CommandError if they are invalid, or do not fit the workflow */
function casesIn({ file, text }: Source, workflow: string, revision: Revision): EvaluationCase[] {
  const read = readCases(text);
  const problem = 'problem' in read ? read.problem : casesProblem(read.cases, workflow, revision);
  if (problem !== undefined || 'problem' in read) throw new CommandError(EXIT.failed, `${file}: ${problem}`);
  return read.cases;
}

type Tested = { name: string; revision: Revision; project: LocalProject };

async function testCase(
  given: EvaluationCase,
  { name: workflow, revision, project }: Tested,
): Promise<Pick<CaseResult, 'name' | 'seconds' | 'failures'>> {
  const { name, data, mocks } = given;
  const state = await executeLocally(project, {
    workflow,
    input: data === undefined ? '' : JSON.stringify(inputOf(data, revision.trigger.kind)),
    mocks,
    egress: { allow: [], deny: [] },
    onEvent: () => undefined,
    signal: new AbortController().signal,
  });
  const record = toRecord(state);
  const run = { apiVersion: API_VERSION, kind: 'WorkflowRun', metadata: { name: state.run }, ...record };
  const { findings, seconds } = judge(given, run as WorkflowRun);
  return {
    name,
    seconds,
    failures: findings.map(({ expectation, got }) => `expected ${expectation}, got ${got}`),
  };
}

function linesOf({ workflow, name, failures }: CaseResult, terminal: Terminal): string[] {
  const mark = failures.length === 0 ? terminal.paint('green', '✓') : terminal.paint('red', '✗');
  return [`${mark} ${workflow}: ${name}`, ...failures.map((failure) => `    ${failure}`)];
}

async function writeReport(file: string, results: readonly CaseResult[]): Promise<void> {
  try {
    await writeFile(file, junitReport(results));
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    throw new CommandError(EXIT.input, `cannot write ${file}: ${code}`, { cause: error });
  }
}
