/** Copies a text to the clipboard and notifies the user. */
import { tellDone, tellFailure } from './tell.tsx';

/** `what` is what was copied, such as "value". */
export async function copyText(text: string, what: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    tellDone(`${capitalized(what)} copied`);
  } catch (error) {
    tellFailure(`Could not copy the ${what}`, error);
  }
}

function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
