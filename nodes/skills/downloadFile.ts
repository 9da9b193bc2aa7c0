/** Skill `download_file`: reads one file of a bucket or a Google Drive, up to a limit. */
import { isUtf8 } from 'node:buffer';
import * as z from 'zod';
import { OUTPUT_LIMIT } from '../../api/expression/evaluate.ts';
import { StepError } from '../../api/reasons.ts';
import { asStep, type StepContext, type StepResult } from '../contract/node.ts';
import { credentialsFor } from '../providers/register.ts';
import { openStore } from './openStore.ts';
import { tooLarge, type ReadFile } from '../contract/store.ts';
import { textParameter, type SkillDefinition } from '../contract/skill.ts';

/** In base64 it still fits into an output. */
const MOST_BYTES = 384_000;
const DEFAULT_BYTES = 262_144;
const TEXT_LIMIT = 65_536;

const parameters = z.strictObject({
  fileId: textParameter(
    1_024,
    "The file: its ID at Google Drive, its key at S3; {{ $('trigger').data_content.file.id }} of a fileStorage trigger.",
  ).refine((id) => id !== '', 'must not be empty'),
  encoding: z
    .enum(['auto', 'text', 'base64'])
    .optional()
    .describe('How the content is given; auto: as text where it is UTF-8, else as base64. Default auto.'),
  exportType: z
    .string()
    .max(255)
    .optional()
    .describe(
      'As what type a document of Google Docs, Sheets or Slides is read. Default text/plain, for Sheets text/csv (the first sheet).',
    ),
  maxBytes: z
    .int()
    .min(1)
    .max(MOST_BYTES)
    .optional()
    .describe(`Bytes that the file may have; the step fails beyond that. Default ${DEFAULT_BYTES}.`),
});

type Parameters = z.infer<typeof parameters>;

export const downloadFile: SkillDefinition<Parameters> = {
  name: 'download_file',
  description: 'Reads a file of an S3-compatible bucket or a Google Drive.',
  parameters,
  credentials: credentialsFor('store'),
  isSource: true,
  effect: 'AtLeastOnce',
  execute: download,
};

async function download(parameters: Parameters, context: StepContext, name?: string): Promise<StepResult> {
  const { fileId, encoding = 'auto', exportType, maxBytes = DEFAULT_BYTES } = parameters;
  const store = await openStore(context, name);
  const file = await asStep(context, () => store.read(fileId, maxBytes, exportType));
  return { output: outputOf(file, encoding, maxBytes) };
}

function outputOf(file: ReadFile, wanted: 'auto' | 'text' | 'base64', most: number): StepResult['output'] {
  const { id, name, type, content } = file;
  const isText = isUtf8(content) && !content.includes(0);
  if (wanted === 'text' && !isText)
    throw new StepError('InvalidAnswer', 'the file is not UTF-8 text: read it as base64', {
      retryable: false,
    });
  const encoding = wanted === 'base64' || !isText ? 'base64' : 'text';
  const text = encoding === 'text' ? content.toString('utf8') : '';
  const output = {
    text_content: text.slice(0, TEXT_LIMIT).toWellFormed(),
    data_content: {
      file_id: id,
      name: name.toWellFormed(),
      mime_type: type,
      size: content.length,
      encoding,
      content: encoding === 'text' ? text : content.toString('base64'),
    },
  };
  // Text of many characters that JSON escapes takes more room than it has bytes.
  if (Buffer.byteLength(JSON.stringify(output)) > OUTPUT_LIMIT) throw tooLarge(most);
  return output;
}
