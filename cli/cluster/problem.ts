/** Problems of the gateway (RFC 9457) as a sentence. Pure. */

/** Title and detail of a problem; the status if the text is none. */
export function problemText(text: string, status = 0): string {
  try {
    const { title = '', detail = '' } = JSON.parse(text) as { title?: string; detail?: string };
    return [title, detail].filter((part) => part !== '').join(': ');
  } catch {
    return `status ${status}`;
  }
}
