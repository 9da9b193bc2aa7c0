/**
 * How a test run says that its draft, or the workflow, is not valid. The operator writes the sentence, and
 * the console reads the problems from it, to lead to each.
 */

const BEGIN = (what: string) => `The ${what} is not valid: correct it, then start a new test run. `;
const BEGINS = new RegExp(`^${BEGIN('(?:draft|workflow)')}`);
const MORE = /; and (\d+) more problems$/;

/** The message with these problems, which are parts of sentences without an end of their own. */
export function draftRefusal(what: 'draft' | 'workflow', problems: readonly string[], more = 0): string {
  const others = more > 0 ? [`and ${more} more problems`] : [];
  return `${BEGIN(what)}${[...problems, ...others].join('; ')}`;
}

/** The problems as one text, and how many more there are; undefined for any other message. */
export function problemsInRefusal(message: string): { problems: string; more: number } | undefined {
  if (!BEGINS.test(message)) return undefined;
  const more = Number(MORE.exec(message)?.[1] ?? 0);
  return { problems: message.replace(BEGINS, '').replace(MORE, ''), more };
}
