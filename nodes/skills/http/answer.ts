/**
 * The answer to a request as the output of a step. Guarantees that nothing of the credential that was sent is
 * in it.
 */
import { parseJson } from '../../../api/json.ts';
import { OUTPUT_LIMIT } from '../../../api/expression/evaluate.ts';
import { StepError } from '../../../api/reasons.ts';
import type { NodeOutput } from '../../../api/value.ts';
import type { HttpAnswer } from '../../http/request.ts';
import { masked, maskedValue, type Mask } from '../../contract/secret.ts';
import type { Parameters } from './parameters.ts';

/** Longer texts are cut in text_content; data_content has them whole. */
const TEXT_LIMIT = 65_536;
const JSON_LIMITS = { maxDepth: 64, maxKeys: 10_000, maxTokens: 200_000 };
const JSON_TYPE = /^(application|text)\/([\w.+-]+\+)?json$/;
/** The output leaves out headers of the connection and those that carry a login. */
const LEFT_OUT = new Set(['connection', 'keep-alive', 'set-cookie', 'set-cookie2', 'transfer-encoding']);
/**
 * The output of the step.
 * @throws StepError `InvalidAnswer` when JSON is asked for and the body is none; `OutputTooLarge`
 */
export function outputOf(
  { host, status, headers }: HttpAnswer,
  bytes: Buffer,
  { response = 'auto', secrets }: { response: Parameters['response']; secrets: readonly Mask[] },
): NodeOutput {
  const shown = Object.entries(headers).filter(([name]) => !LEFT_OUT.has(name));
  const base = {
    status,
    headers: Object.fromEntries(shown.map(([name, value]) => [name, masked(value, secrets)])),
  };
  const { text, ...content } = contentOf(bytes, headers['content-type'] ?? '', response, host);
  const safe = masked(text, secrets);
  const output = {
    text_content: safe.slice(0, TEXT_LIMIT).toWellFormed(),
    // JSON may escape any character, so that the values are masked once more.
    data_content: { ...base, ...content, body: maskedValue(content.body, secrets) },
  };
  if (Buffer.byteLength(JSON.stringify(output)) <= OUTPUT_LIMIT) return output;
  const message = `the answer of ${host} is larger than an output may be (${OUTPUT_LIMIT / 1_024} KiB of JSON): ask for less`;
  throw new StepError('OutputTooLarge', message);
}

type Content = { text: string; body: unknown; encoding?: 'base64' };

function contentOf(
  bytes: Buffer,
  contentType: string,
  response: NonNullable<Parameters['response']>,
  host: string,
): Content {
  if (bytes.length === 0) return { text: '', body: null };
  const type = contentType.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  if (response === 'json' || (response === 'auto' && JSON_TYPE.test(type))) {
    const text = decoded(bytes, 'utf-8', true);
    const parsed = text === undefined ? undefined : parseJson(text, JSON_LIMITS);
    if (text !== undefined && parsed?.ok) return { text, body: parsed.value };
    if (response === 'json')
      throw new StepError('InvalidAnswer', `the answer of ${host} is not valid JSON: ${whyNot(parsed)}`);
  }
  const text = decoded(bytes, charsetOf(contentType), response === 'auto');
  if (text !== undefined && (response === 'text' || !text.includes('\0'))) return { text, body: text };
  return { text: '', body: bytes.toString('base64'), encoding: 'base64' };
}

function whyNot(parsed: ReturnType<typeof parseJson> | undefined): string {
  return parsed && !parsed.ok ? parsed.message : 'The text is not valid JSON in UTF-8.';
}

function charsetOf(contentType: string): string {
  return /;\s*charset="?([\w.:-]+)"?/i.exec(contentType)?.[1] ?? 'utf-8';
}

/**
 * The text; undefined for bytes that are not text, if that is requested. A charset that nobody knows counts
 * as UTF-8.
 */
function decoded(bytes: Buffer, charset: string, fatal: boolean): string | undefined {
  try {
    return decoderOf(charset, fatal).decode(bytes).toWellFormed();
  } catch {
    return undefined;
  }
}

function decoderOf(charset: string, fatal: boolean) {
  try {
    return new TextDecoder(charset, { fatal });
  } catch {
    return new TextDecoder('utf-8', { fatal });
  }
}
