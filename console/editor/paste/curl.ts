/** A pasted curl command: one step behind the selected node. */
import { readCurl } from '../model/curl.ts';
import type { Pasted } from './format.ts';

/** The step of the command, without its logins. */
export function convertCurl(text: string): Pasted {
  const read = readCurl(text);
  if (read === undefined) return { kind: 'problem', problem: 'The text is too long for a curl command.' };
  if ('problem' in read) return { kind: 'problem', problem: read.problem };
  return { kind: 'step', ...read };
}
