/** Executes tests of the tree in which it was started whenever it is asked (`tester.ts`). */
import { join } from 'node:path';
import { createVitest, type TestCase, type Vitest } from 'vitest/node';
import { projectOf } from '../../scripts/testProjects.ts';
import type { TestReport } from './report.ts';
import type { Question } from './tester.ts';

type Result = TestReport['testResults'][number]['assertionResults'][number];

/** Those of the question that is being answered. */
const results: Result[] = [];
const onTestCaseResult = (test: TestCase) => {
  results.push({ title: test.name, status: test.result().state });
};

async function execute(vitest: Vitest, question: Question): Promise<TestReport> {
  results.length = 0;
  const specifications = question.flatMap(({ file, names }) => {
    const project = vitest.projects.find(({ name }) => name === projectOf(file));
    const options = { testNamePattern: new RegExp(names) };
    return project?.createSpecification(join(process.cwd(), file), options) ?? [];
  });
  await vitest.runTestSpecifications(specifications);
  return { testResults: [{ assertionResults: [...results] }] };
}

// Vitest starts a server of its own for each project that is not left out.
const project = ['unit', 'integration'];
const vitest = await createVitest({ watch: false, project, reporters: [{ onTestCaseResult }] });
process.on('message', (question: Question) => {
  void execute(vitest, question).then((report) => process.send?.(report));
});
process.on('disconnect', () => process.exit());
