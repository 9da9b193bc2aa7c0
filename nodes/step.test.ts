import { expect, test } from 'vitest';
import { revisionOf, type RevisionStep } from '../api/revision.ts';
import { stepContext } from '../test/support/nodes/stepContext.ts';
import { executeStep, templatesOf } from './step.ts';

const model = "{{ $('trigger').data_content.model }}";
const nodes = [
  { id: 'trigger', manual: { testData: {} } },
  { id: 'ask', agent: { credential: 'llm', model, prompt: 'Hi' } },
];
const agent = revisionOf({ active: true, nodes }).steps[0] as RevisionStep;

test('references are replaced in the model of an agent, too', () => {
  expect(templatesOf(agent)).toEqual({ model, prompt: 'Hi' });
});

test.each([[null], [''], [{ name: 'small' }]])(
  'a model that became %j is refused before it is asked',
  async (given) => {
    const context = stepContext({});
    const attempt = executeStep(agent, { model: given, prompt: 'Hi' }, context);
    await expect(attempt).rejects.toMatchObject({ reason: 'InvalidParameters' });
  },
);
