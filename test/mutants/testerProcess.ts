/** The process of `tester.ts`: executes the tests that messages name, in the tree in which it was started. */
import { join } from 'node:path';
import { createVitest, type TestCase, type Vitest } from 'vitest/node';
import { projectOf } from '../../scripts/testProjects.ts';
import type { TestReport } from './report.ts';
import type { TestSelection } from './tester.ts';

type Result = TestReport['testResults'][number]['assertionResults'][number];

/** The results of the selection that is being executed. */
const results: Result[] = [];
const onTestCaseResult = (test: TestCase) => {
  results.push({ title: test.name, status: test.result().state });
};

async function execute(vitest: Vitest, selection: TestSelection): Promise<TestReport> {
  results.length = 0;
  const specifications = selection.flatMap(({ file, names }) => {
    const project = vitest.projects.find(({ name }) => name === projectOf(file));
    const options = { testNamePattern: new RegExp(names) };
    return project?.createSpecification(join(process.cwd(), file), options) ?? [];
  });
  await vitest.runTestSpecifications(specifications);
  return { testResults: [{ assertionResults: [...results] }] };
}

// Without this choice, vitest starts a server for each of the other projects, too.
const project = ['unit', 'integration'];
const vitest = await createVitest({ watch: false, project, reporters: [{ onTestCaseResult }] });
process.on('message', (selection: TestSelection) => {
  void execute(vitest, selection).then((report) => process.send?.(report));
});
process.on('disconnect', () => process.exit());
