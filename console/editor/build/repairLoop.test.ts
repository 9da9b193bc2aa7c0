import { expect, test } from 'vitest';
import { askUntilValid, type Checked } from './repairLoop.ts';

const prompt = { instructions: 'i', request: 'r' };

/** Asks a model that gives these answers; `checks` says what is found in each. */
async function asked(checks: Record<string, Checked<string>>, ...answers: string[]) {
  const requests: string[] = [];
  const steps: string[] = [];
  const result = askUntilValid({
    prompt,
    ask: ({ request }) => {
      requests.push(request);
      return Promise.resolve(answers[requests.length - 1] ?? '');
    },
    check: (answer) => Promise.resolve(checks[answer] ?? { value: answer, problems: [] }),
    onStep: (step) => void steps.push(step),
  });
  return { result: await result.catch((error: unknown) => error), requests, steps };
}

const half: Checked<string> = { value: 'half', problems: ['no trigger'] };
const bad: Checked<string> = { value: undefined, problems: ['no workflow'] };

test('an answer without problems is taken at once', async () => {
  const { result, requests } = await asked({}, 'good');
  expect(result).toEqual({ value: 'good', problems: [] });
  expect(requests).toEqual(['r']);
});

test('problems go back with the answer, and a correct answer ends it', async () => {
  const { result, requests, steps } = await asked({ half, bad }, 'bad', 'good');
  expect(result).toEqual({ value: 'good', problems: [] });
  expect(requests[1]).toContain('bad');
  expect(requests[1]).toContain('- no workflow');
  expect(steps).toContain('Correcting the answer (1 of 2)…');
});

test('after two corrections the value comes with the problems that remain', async () => {
  const { result, requests } = await asked({ half }, 'half', 'half', 'half', 'good');
  expect(result).toEqual(half);
  expect(requests).toHaveLength(3);
});

test('after two corrections an answer that cannot be used is a failure that says so', async () => {
  const { result } = await asked({ bad }, 'bad', 'bad', 'bad');
  expect(result).toMatchObject({ title: 'The answer of the model cannot be used' });
  expect((result as Error & { detail: string }).detail).toContain('no workflow The draft is unchanged');
});
