/**
 * Skill `upload_file`: writes one file to a bucket or a Google Drive. A repeated delivery of the same attempt
 * writes it once.
 */
import * as z from 'zod';
import { isHeaderValue } from '../../api/headers.ts';
import { StepError } from '../../api/reasons.ts';
import { asStep, type StepContext, type StepResult } from '../contract/node.ts';
import { credentialsFor } from '../providers/register.ts';
import { openStore } from './openStore.ts';
import { destination, hiddenFromModels, textParameter, type SkillDefinition } from '../contract/skill.ts';

const LONGEST_CONTENT = 524_288;
const BASE64 = /^[A-Za-z0-9+/_-]*={0,2}$/;

const parameters = z.strictObject({
  folderId: textParameter(
    1_024,
    'The folder: its ID at Google Drive, its name such as reports/2026 at S3. Default: My Drive, or the bucket itself.',
  ).optional(),
  name: textParameter(
    1_024,
    'The name of the file, without a slash. At S3 at most 1,024 bytes together with the folder.',
  )
    .refine((name) => name !== '', 'must not be empty')
    .refine((name) => !/[/\p{Cc}]/u.test(name), 'must not hold a slash or a control character')
    .refine((name) => name !== '.' && name !== '..', 'must not be . or ..'),
  content: textParameter(LONGEST_CONTENT, 'What is in it: text, or base64 as encoding says.'),
  encoding: z
    .enum(['text', 'base64'])
    .optional()
    .describe('text: content is written as UTF-8; base64: what it stands for. Default text.'),
  mimeType: z
    .string()
    .max(255)
    .regex(/^[\w!#$&^.+-]+\/[\w!#$&^.+-]+(\s*;.*)?$/, 'must be a type such as text/csv')
    .refine(isHeaderValue, 'must not hold a line break or another control character')
    .optional()
    .describe('Its type. Default text/plain; charset=utf-8, or application/octet-stream for base64.'),
  overwrite: z
    .boolean()
    .optional()
    .describe(
      'Whether a file of that name in that folder is replaced. Default false: at S3 the step fails where another one is there; at Google Drive, where names may repeat, the new one comes beside it.',
    ),
});

type Parameters = z.infer<typeof parameters>;

export const uploadFile: SkillDefinition<Parameters> = {
  name: 'upload_file',
  description: 'Writes a file to an S3-compatible bucket or a Google Drive.',
  parameters,
  rules: { folderId: destination, overwrite: hiddenFromModels },
  credentials: credentialsFor('store'),
  effect: 'AtLeastOnce',
  execute: upload,
};

async function upload(
  parameters: Parameters,
  context: StepContext,
  credential?: string,
): Promise<StepResult> {
  const { folderId, name, encoding = 'text', overwrite = false } = parameters;
  const { mimeType = encoding === 'text' ? 'text/plain; charset=utf-8' : 'application/octet-stream' } =
    parameters;
  const content = bytesOf(parameters.content, encoding);
  const store = await openStore(context, credential);
  const file = { folderId: folderId || undefined, name, type: mimeType, content, overwrite };
  const { id, type, size, url } = await asStep(context, () => store.write(file));
  return {
    output: {
      text_content: `Wrote ${name} (${size} bytes).`,
      data_content: { file_id: id, name, mime_type: type, size, url },
    },
  };
}

/** Line breaks between are what mail has in it. */
function bytesOf(content: string, encoding: 'text' | 'base64'): Buffer {
  if (encoding === 'text') return Buffer.from(content.toWellFormed(), 'utf8');
  const text = content.replaceAll(/\s+/g, '');
  if (BASE64.test(text)) return Buffer.from(text, 'base64');
  throw new StepError('InvalidParameters', 'content: is not base64, as encoding says');
}
