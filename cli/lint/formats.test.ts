import { expect, test } from 'vitest';
import type { Finding } from './finding.ts';
import { formatFindings, summary } from './formats.ts';

const finding: Finding = {
  file: 'a b/w,1.yaml',
  line: 3,
  column: 7,
  severity: 'error',
  rule: 'UnknownSkill',
  message: 'node a: 100%\nwrong',
  object: 'Workflow/orders',
};
const result = { findings: [finding], objects: 1 };
const terminal = { paint: (_colour: string, text: string) => text };

test('text has file, line and column as editors read them', () => {
  expect(formatFindings('text', result, terminal)).toBe(
    'a b/w,1.yaml:3:7: error: node a: 100%\nwrong [UnknownSkill]',
  );
});

test('json has the findings as they are', () => {
  expect(JSON.parse(formatFindings('json', result, terminal))).toEqual(result);
});

test('github escapes what would end a command', () => {
  expect(formatFindings('github', result, terminal)).toBe(
    '::error file=a b/w%2C1.yaml,line=3,col=7,title=UnknownSkill::node a: 100%25%0Awrong',
  );
});

test('sarif names rule, level and place, with the file as a URI', () => {
  expect(JSON.parse(formatFindings('sarif', result, terminal))).toMatchObject({
    version: '2.1.0',
    runs: [
      {
        tool: { driver: { name: 'windlass lint', rules: [{ id: 'UnknownSkill' }] } },
        results: [
          {
            ruleId: 'UnknownSkill',
            ruleIndex: 0,
            level: 'error',
            message: { text: finding.message },
            locations: [
              {
                physicalLocation: {
                  artifactLocation: { uri: 'a%20b/w%2C1.yaml' },
                  region: { startLine: 3, startColumn: 7 },
                },
              },
            ],
          },
        ],
      },
    ],
  });
});

test.each([
  [[], 2, 'nothing wrong in 2 objects'],
  [[finding], 1, '1 error and 0 warnings in 1 object'],
])('the summary counts findings', (findings, objects, says) => {
  expect(summary({ findings, objects })).toBe(says);
});
