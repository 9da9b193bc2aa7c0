import { expect, test } from 'vitest';
import { ExpressionError } from '../../api/expression/errors.ts';
import { revisionOf } from '../../api/revision.ts';
import { compileFields } from '../../nodes/step.ts';
import { credentialProblems } from '../../operator/credential/problems.ts';
import { credentialRefs } from '../../operator/shared/credentialRefs.ts';
import { validate } from '../../operator/workflow/validate.ts';
import { readMistakes, specOf, type Mistake } from '../mistakes/mistakes.ts';

const mistakes = readMistakes();
const caught = (where: Mistake['caught']) =>
  mistakes.filter((mistake) => mistake.caught === where).map((mistake) => [mistake.wrong, mistake] as const);

/** What the conditions of the workflow say, in a namespace without Credentials. */
function problemsOf(mistake: Mistake): string {
  const spec = specOf(mistake);
  const credentials = credentialProblems(credentialRefs(spec), () => undefined);
  return [...validate(spec), ...credentials].map(({ message }) => message).join('; ');
}

test('of at least forty wrong manifests at most one is caught only when it runs', () => {
  expect(mistakes.length).toBeGreaterThanOrEqual(40);
  expect(caught('run').length).toBeLessThanOrEqual(1);
});

test.each(caught('status'))('%s: a condition says so before anything runs', (_wrong, mistake) => {
  expect(problemsOf(mistake)).toContain(mistake.says);
});

test.each(caught('run'))('%s: the run that fails names what is not there', (_wrong, mistake) => {
  expect(problemsOf(mistake)).toBe('');
  const [step] = revisionOf(specOf(mistake)).steps;
  const event = { text_content: '', data_content: { name: 'Ada' } };
  const failure = new RegExp(mistake.says.replaceAll(/[$()'.]/g, String.raw`\$&`));
  const execute = () => step && compileFields(step)({ node: () => event });
  expect(execute).toThrow(ExpressionError);
  expect(execute).toThrow(failure);
});
