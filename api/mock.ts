/** Mocks of a test run: results that take the place of what its steps and tools would do outside. */
import * as z from 'zod';
import { objectName, output, rules } from './value.ts';

/** The reasons with which a mock can fail a node or a tool. */
const MOCK_REASONS = [
  'AddressForbidden',
  'CallbackTimeout',
  'ChildFailed',
  'CodeError',
  'CredentialMissing',
  'CredentialRejected',
  'EffectUnknown',
  'InvalidAnswer',
  'RateLimited',
  'Refused',
  'StepLimit',
  'Timeout',
  'Unreachable',
  'UpstreamError',
] as const;

export const mock = z
  .object({
    workflow: objectName(
      'The workflow of the node. Default: the workflow of the test run; name another one for a child run.',
    ).optional(),
    node: z.string().min(1).max(63).describe('ID of the node.'),
    tool: z
      .string()
      .min(1)
      .max(64)
      .optional()
      .describe('Name of a tool of the agent. Left out: the mock stands for the node itself.'),
    output: output.optional().describe('The output, instead of what the node or the tool would return.'),
    error: z
      .object({
        reason: z.enum(MOCK_REASONS).describe('The reason of the failure.'),
        message: z.string().max(1024).default('').describe('The message of the failure.'),
      })
      .optional()
      .describe('The failure of the node or the tool.'),
    real: z
      .boolean()
      .optional()
      .describe('True: the node or the tool does what it does in a live run. Its effects are real.'),
  })
  .meta({
    description: 'What a node or a tool of an agent returns instead of doing something.',
    ...rules({
      rule: '[has(self.output), has(self.error), has(self.real) && self.real].filter(x, x).size() == 1',
      message: 'a mock has exactly one of output, error and real: true',
    }),
  });

export const modelOverride = z
  .object({
    node: z.string().min(1).max(63).optional().describe('ID of the agent. Default: every agent of the run.'),
    credential: objectName('Name of the Credential of the model. Default: that of the agent.').optional(),
    model: z.string().min(1).max(256).describe('The model.'),
  })
  .describe('Another model for the agents of a test run. Their `fallback` is not used.');

export const unmocked = z
  .enum(['Fail', 'Execute'])
  .describe(
    'Only with `mocks`: what happens to a step or tool that contacts a provider and has no mock. Fail (the default): it fails with NotMocked before anything is sent. Execute: it does what it does in a live run, with real effects.',
  );

export type Mock = z.infer<typeof mock>;
export type ModelOverride = z.infer<typeof modelOverride>;

/** What changes the steps of a test run, as its spec has it. Child runs have that of their parent. */
export type Testing = { mocks?: Mock[]; unmocked?: z.infer<typeof unmocked>; model?: ModelOverride };

/** The part of the spec of a run that changes its steps; undefined if there is none. */
export function testingOf({
  mocks,
  unmocked,
  model,
}: {
  [member in keyof Testing]: Testing[member] | undefined;
}): Testing | undefined {
  if (!mocks && !model) return undefined;
  return { ...(mocks && { mocks }), ...(unmocked && { unmocked }), ...(model && { model }) };
}
