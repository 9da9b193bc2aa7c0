/** Parses server-sent events (WHATWG HTML, section 9.2) from a stream in pieces of any size. */

export type ServerEvent = { id: string; event: string; data: string };

/** Takes the pieces of a stream in order and returns the events that each piece completes. */
export function createEventParser(): (piece: string) => ServerEvent[] {
  let rest = '';
  let isFirst = true;
  let id = '';
  let event = '';
  let data: string[] = [];

  function takeLine(line: string, done: ServerEvent[]): void {
    if (line === '') {
      if (data.length > 0) done.push({ id, event: event || 'message', data: data.join('\n') });
      event = '';
      data = [];
      return;
    }
    const colon = line.indexOf(':');
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '');
    if (field === 'data') data.push(value);
    else if (field === 'event') event = value;
    else if (field === 'id' && !value.includes('\0')) id = value;
  }

  return (piece) => {
    let text = rest + piece;
    if (isFirst && text !== '') {
      isFirst = false;
      text = text.replace(/^\uFEFF/, '');
    }
    // A line feed may follow in the next piece.
    const end = text.endsWith('\r') ? text.length - 1 : text.length;
    const lines = text.slice(0, end).split(/\r\n|\r|\n/);
    rest = (lines.pop() ?? '') + text.slice(end);
    const done: ServerEvent[] = [];
    for (const line of lines) takeLine(line, done);
    return done;
  };
}
