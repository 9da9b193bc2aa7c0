/**
 * The messages of a conversation in a form that servers take back, whatever a model made up. Guarantees:
 * names of tools match `[A-Za-z0-9_-]{1,64}`, each call has an id of its own, which its result has too, and
 * texts are well-formed Unicode. What fits stays as it is. Arguments: see `arguments.ts`.
 */
import type { ModelMessage, ModelToolCall } from '../contract/model.ts';

/** `unfit`: the characters that an id cannot have. `longest`: in characters. */
export type IdRule = { unfit: RegExp; longest: number };

/** The longest id that an answer keeps. Some servers keep signatures of several hundred characters in it. */
export const LONGEST_ID = 4_096;
const LONGEST_NAME = 64;

type Answer = Extract<ModelMessage, { role: 'assistant' }>;
type Renamed = { from: string; to: string };

/** The messages, with all ids unique. A result belongs to the first open call of its id. */
export function fitMessages(messages: readonly ModelMessage[], rule: IdRule): ModelMessage[] {
  const ids = new UniqueIds(rule);
  let open: Renamed[] = [];
  return messages.map((message) => {
    const text = message.text.toWellFormed();
    if (message.role === 'assistant') {
      const toolCalls = message.toolCalls.map((call) => fitCall(call, ids));
      open = message.toolCalls.map(({ id }, index) => ({ from: id, to: toolCalls[index]?.id ?? id }));
      return { ...message, text, toolCalls } satisfies Answer;
    }
    if (message.role !== 'tool') return { ...message, text };
    const at = open.findIndex(({ from }) => from === message.callId);
    const [{ to } = { to: message.callId }] = at === -1 ? [] : open.splice(at, 1);
    return { ...message, text, callId: to };
  });
}

function fitCall(call: ModelToolCall, ids: UniqueIds): ModelToolCall {
  const name = call.name.slice(0, LONGEST_NAME).replaceAll(/[^A-Za-z0-9_-]/g, '_');
  return { ...call, id: ids.idOf(call.id), name: name || 'unknown' };
}

class UniqueIds {
  readonly #rule: IdRule;
  readonly #used = new Set<string>();
  #made = 0;

  constructor(rule: IdRule) {
    this.#rule = rule;
  }

  idOf(id: string): string {
    const { unfit, longest } = this.#rule;
    let fit = id.length > longest ? '' : id.replaceAll(unfit, '_');
    while (fit === '' || this.#used.has(fit)) {
      this.#made += 1;
      fit = `call_${this.#made}`;
    }
    this.#used.add(fit);
    return fit;
  }
}
