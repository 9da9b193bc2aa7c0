/**
 * Files in one line of text, which may stand in a comment of JavaScript: their names and lengths as JSON, a
 * line break, and their contents, compressed (Brotli) and encoded (Base64).
 */
import { brotliCompressSync, brotliDecompressSync, constants } from 'node:zlib';

export type ArchivedFile = { path: string; content: Uint8Array };

/** Ten times as fast as the best quality, for a tenth more bytes. */
const QUALITY = 9;

/** Equal files give an equal text. */
export function packFiles(files: readonly ArchivedFile[]): string {
  const head = files.map(({ path, content }) => [path, content.length]);
  const whole = Buffer.concat([
    Buffer.from(`${JSON.stringify(head)}\n`),
    ...files.map(({ content }) => content),
  ]);
  const params = { [constants.BROTLI_PARAM_QUALITY]: QUALITY };
  return brotliCompressSync(whole, { params }).toString('base64');
}

/** The files of a text that `packFiles` made. */
export function unpackFiles(text: string): ArchivedFile[] {
  const whole = brotliDecompressSync(Buffer.from(text, 'base64'));
  const end = whole.indexOf('\n');
  const head = JSON.parse(whole.toString('utf8', 0, end)) as [path: string, length: number][];
  let at = end + 1;
  return head.map(([path, length]) => {
    const content = whole.subarray(at, at + length);
    at += length;
    return { path, content };
  });
}
