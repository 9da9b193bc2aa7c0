/** Skills for spreadsheets, tried on a server that speaks Google's wire format. */
import { expect } from 'vitest';
import type { CredentialSpec } from '../../../api/credential.ts';
import { StepError } from '../../../api/reasons.ts';
import type { StepContext } from '../../../nodes/contract/node.ts';
import { findSkill } from '../../../nodes/register.ts';
import type { SheetsServer } from '../providers/google/sheetsServer.ts';
import { stepContext } from './stepContext.ts';

type Options = Omit<Partial<StepContext>, 'credential'>;

/** Executes the skill with an account that the server knows; the data of its output. */
export async function sheetsSkill(
  { url }: Pick<SheetsServer, 'url'>,
  name: string,
  parameters: object,
  options: Options = {},
): Promise<{ text: string; data: Record<string, unknown> }> {
  const skill = findSkill(name)!;
  const { effect } = skill;
  const spec: CredentialSpec = { oauth2: { preset: 'google', clientID: 'windlass', apiURL: url } };
  const context = stepContext(spec, {
    ...(effect !== 'None' && { effect }),
    secrets: { google: 'good-token' },
    ...options,
  });
  const { output } = await skill.execute(parameters, context, 'google');
  return { text: output.text_content, data: output.data_content as Record<string, unknown> };
}

/** The error that the skill ends with. Throws when it does not. */
export async function sheetsFailure(...call: Parameters<typeof sheetsSkill>): Promise<StepError> {
  const error: unknown = await sheetsSkill(...call).catch((error: unknown) => error);
  expect(error).toBeInstanceOf(StepError);
  return error as StepError;
}
