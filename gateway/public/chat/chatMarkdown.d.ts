/** The types of `chatMarkdown.js`, for tests. */
export function readMarkdown(text: string): unknown[];
