/**
 * The memory of an agent while it is executed: the turns that the model is sent, and the turn that it adds.
 */
import { StepError } from '../../api/reasons.ts';
import type { MemoryTurn } from '../../api/memory.ts';
import type { AgentMemoryFields } from '../../api/step.ts';
import type { ModelMessage, ModelTool } from '../contract/model.ts';
import type { AgentMemory } from '../contract/node.ts';
import { bytesPerTokenOf, halfOf, messagesOfMemory, storedTurn, turnsInWindow } from './memory.ts';
import type { StructuredAnswer } from './models.ts';
import type { Turn } from './transcript.ts';

/** The request of the agent itself, without what it remembers. */
type Own = { messages: readonly ModelMessage[]; tools: readonly ModelTool[] };

/** `suffix`: of the effect key, because a key stands for one body. */
type Ask = (messages: ModelMessage[], suffix: string) => Promise<StructuredAnswer>;

export class MemoryInUse {
  readonly #memory: AgentMemory | undefined;
  readonly #prompt: unknown;
  #window: MemoryTurn[];
  #canHalve = true;
  #bytesPerToken: number | undefined;

  constructor(
    memory: AgentMemory | undefined,
    fields: { prompt: unknown; memory?: AgentMemoryFields | undefined },
  ) {
    this.#memory = memory;
    this.#prompt = fields.prompt;
    this.#window = memory ? turnsInWindow(memory.turns, fields.memory?.window) : [];
  }

  /** How many turns the model is sent. */
  get turns(): number {
    return this.#window.length;
  }

  /** Continues a conversation whose last answer was asked for with so many turns. */
  continueWith(turns: number | undefined): void {
    if (turns === undefined || turns >= this.#window.length) return;
    this.#window = turns === 0 ? [] : this.#window.slice(-turns);
    this.#canHalve = false;
  }

  /**
   * Asks with the turns before the prompt; with half of them, once, if the model says that it is too much.
   */
  async ask(own: Own, ask: Ask): Promise<StructuredAnswer> {
    for (;;) {
      const messages = this.#before(own.messages);
      try {
        const asked = await ask(messages, this.#canHalve ? '' : '/halved');
        this.#bytesPerToken ??= bytesPerTokenOf(messages, own.tools, asked.answer.usage);
        return asked;
      } catch (error) {
        const isTooLong = error instanceof StepError && error.reason === 'ContextTooLong';
        if (!isTooLong || !this.#canHalve || this.#window.length === 0) throw error;
        this.#window = halfOf(this.#window);
        this.#canHalve = false;
      }
    }
  }

  /** Notes the turn so far. `answer`: the last one of the turn. */
  note(turns: readonly Turn[], answer?: string): void {
    const so = {
      prompt: this.#prompt,
      turns: [...turns],
      bytesPerToken: this.#bytesPerToken,
      ...(answer !== undefined && { answer }),
    };
    this.#memory?.report((end) => storedTurn(so, end));
  }

  /** The turns come after the system prompt. */
  #before(messages: readonly ModelMessage[]): ModelMessage[] {
    const at = messages.findIndex(({ role }) => role !== 'system');
    return [...messages.slice(0, at), ...messagesOfMemory(this.#window), ...messages.slice(at)];
  }
}
