/**
 * The memory of an agent while it is executed: which turns of earlier runs the model is sent, and the turn of
 * this run so far.
 */
import { StepError } from '../../api/reasons.ts';
import type { MemoryTurn } from '../../api/memory.ts';
import type { AgentMemoryFields } from '../../api/step.ts';
import type { ModelMessage, ModelTool } from '../contract/model.ts';
import type { AgentMemory } from '../contract/node.ts';
import type { StructuredAnswer } from './fitSchema.ts';
import { bytesPerTokenOf, halfOf, messagesOfMemory, storedTurn, turnsInWindow } from './memoryTurns.ts';
import type { Round } from './rounds.ts';

/** The request of the agent without what it remembers. */
type RequestOfRun = { messages: readonly ModelMessage[]; tools: readonly ModelTool[] };

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
  get turnCount(): number {
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
  async ask(request: RequestOfRun, ask: Ask): Promise<StructuredAnswer> {
    for (;;) {
      const messages = this.#withTurns(request.messages);
      try {
        const asked = await ask(messages, this.#canHalve ? '' : '/halved');
        this.#bytesPerToken ??= bytesPerTokenOf(messages, request.tools, asked.answer.usage);
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
  note(rounds: readonly Round[], answer?: string): void {
    const soFar = {
      prompt: this.#prompt,
      rounds: [...rounds],
      bytesPerToken: this.#bytesPerToken,
      ...(answer !== undefined && { answer }),
    };
    this.#memory?.report((end) => storedTurn(soFar, end));
  }

  /** The messages with the turns, after the system prompt. */
  #withTurns(messages: readonly ModelMessage[]): ModelMessage[] {
    const at = messages.findIndex(({ role }) => role !== 'system');
    return [...messages.slice(0, at), ...messagesOfMemory(this.#window), ...messages.slice(at)];
  }
}
