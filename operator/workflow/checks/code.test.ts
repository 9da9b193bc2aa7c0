import { expect, test } from 'vitest';
import type { WorkflowNode } from '../../../api/workflow.ts';
import { spec, webhook } from '../../../test/support/operator/workflowSpecs.ts';
import { validate } from '../validate.ts';

const code = (source: string): WorkflowNode => ({ id: 'code', code: { source } });

test.each<[string, string]>([
  ['quotes', `\`${String.raw`\"`.repeat(32_000)}\``],
  ['comments', `\`${'/* '.repeat(21_000)}\``],
])('code with a template of many open %s is checked in linear time', (_what, source) => {
  // Processor time of this thread, which other work does not prolong: in square time it takes minutes.
  const started = process.threadCpuUsage();
  expect(validate(spec([webhook, code(source)]))).toEqual([]);
  expect(process.threadCpuUsage(started).user).toBeLessThan(2_000_000);
});

test.each(['nodes.later', 'nodes?.later', "nodes['later']", 'nodes["later"]', 'nodes.code', 'nodes.gone'])(
  'code that names %s, which does not come before it, is invalid',
  (written) => {
    const later: WorkflowNode = { id: 'later', response: { body: 1 } };
    expect(
      validate(spec([webhook, code(`const a = 1;\n  return ${written}.data_content;`), later])),
    ).toMatchObject([
      {
        reason: 'UnknownReference',
        message: expect.stringMatching(/^node code: code\.source: line 2, column 10: nodes\./),
      },
    ]);
  },
);

test('code is invalid in an installation that does not execute code', () => {
  expect(validate(spec([webhook, code('return 1;')]), { code: false })).toEqual([
    {
      reason: 'CodeDisabled',
      message:
        'node code: this installation does not execute code (chart value runner.code.enabled): use the skill set',
    },
  ]);
});
