/**
 * Keeps typed text from being replaced by older text. An editor reports its text and gets it back as a value
 * when that is rendered, which can be later than the next key. Pure.
 */

export type Typing = {
  /** Whether the text of the editor is new outside of it. If so, the editor has to report it. */
  reports(text: string): boolean;
  /** Whether a value comes from outside and so replaces the text. Call it when the value has changed. */
  replaces(value: string): boolean;
};

export function createTyping(initial: string): Typing {
  /** What is known outside of the editor. */
  let known = initial;
  /** The reported texts that were not rendered yet, the oldest first. */
  let reported: string[] = [];
  return {
    reports: (text) => {
      if (text === known) return false;
      known = text;
      reported.push(text);
      return true;
    },
    replaces: (value) => {
      const at = reported.indexOf(value);
      if (at >= 0) {
        reported = reported.slice(at + 1);
        return false;
      }
      if (value === known) return false;
      known = value;
      reported = [];
      return true;
    },
  };
}
