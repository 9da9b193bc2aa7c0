/** Copies a text to the clipboard, and says so. */
import { tellDone, tellFailure } from '../shell/tell.ts';

/** `what` is what was copied, such as "The value". */
export async function copyText(text: string, what: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    tellDone(`${what} is copied.`);
  } catch (error) {
    tellFailure(`${what} was not copied`, error);
  }
}
