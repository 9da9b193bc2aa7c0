/**
 * How conditions say that an earlier revision stays in effect while the saved spec is invalid. The operator
 * writes the sentence and the console finds it: it stands in the message of `Ready`, which lists show.
 */

/** The sentence about this revision. */
export function keptRevisionNote(revision: string): string {
  return `Revision ${revision}, which was valid, stays in effect until the spec is valid.`;
}

const NOTE = new RegExp(keptRevisionNote('(\\S+)'));

/** The message with other words in place of the sentence. */
export function withKeptRevision(message: string, words: (revision: string) => string): string {
  return message.replace(NOTE, (_sentence, revision: string) => words(revision));
}

/** The revision that a message says to be in effect; undefined if it names none. */
export function keptRevisionIn(message: string | undefined): string | undefined {
  return NOTE.exec(message ?? '')?.[1];
}
