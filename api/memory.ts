/** A turn of an agent's memory, as the run store holds it and the API shows it. */
import * as z from 'zod';

const call = z
  .object({
    id: z.string().describe('ID of the call, as the model wrote it.'),
    name: z.string().describe('The name of the tool.'),
    arguments: z.string().describe('The arguments, as JSON text.'),
    result: z.string().describe('What the model was told.'),
    error: z.literal(true).optional().describe('The call failed.'),
  })
  .describe('A tool call.');

const memoryTurn = z
  .object({
    run: z.string().describe('Name of the run.'),
    time: z.string().describe('When the turn ended (RFC 3339).'),
    user: z.string().describe('The prompt.'),
    steps: z
      .array(z.object({ text: z.string().describe('Text beside the calls.'), calls: z.array(call) }))
      .describe('The answers of the model that called tools.'),
    answer: z.string().describe('The last answer. Of a failed turn: that it failed, and why.'),
    failed: z.literal(true).optional().describe('The agent failed after it had called tools.'),
    redacted: z
      .literal(true)
      .optional()
      .describe('The texts are withheld, because the node is sensitive, or because of recordData.'),
    bytesPerToken: z.number().optional().describe('As the provider counted tokens in this turn.'),
  })
  .describe('One turn of a conversation: the prompt, the tool calls, and the answer.');

export type MemoryTurn = z.infer<typeof memoryTurn>;

/** A name and a key in paths. */
export const memoryName = z
  .string()
  .regex(/^[A-Za-z][A-Za-z0-9_]{0,62}$/)
  .describe('ID of the node of the agent, or its memory.name.');
export const memoryKey = z.string().min(1).max(512).describe('The value of memory.key, URL-encoded.');

const memoryItem = z
  .object({
    name: z.string().describe('ID of the node, or its memory.name.'),
    key: z.string().describe('The value of memory.key.'),
    test: z.boolean().describe('Whether it is the memory of test runs.'),
    turns: z.int().describe('How many turns are stored.'),
    bytes: z.int().describe('What they take of the quota.'),
    lastUsedTime: z.string().describe('When the last turn was stored (RFC 3339).'),
    first: z
      .string()
      .optional()
      .describe(
        'The first prompt that is still stored, at most 200 characters; empty if it is withheld. Only for callers who may get WorkflowRuns.',
      ),
  })
  .describe('What an agent remembers for one key.');

export const memoryPage = z
  .object({
    items: z.array(memoryItem).describe('The memories that were used last, newest first.'),
    total: z.int().describe('How many memories match.'),
  })
  .describe('A list of memories.');

export const memoryView = z
  .object({
    name: memoryItem.shape.name,
    key: memoryItem.shape.key,
    turns: z.array(memoryTurn).describe('The turns, oldest first.'),
  })
  .describe('A memory with its turns.');

export type MemoryItem = z.infer<typeof memoryItem>;
export type MemoryPage = z.infer<typeof memoryPage>;
export type MemoryView = z.infer<typeof memoryView>;

/** The most characters of a first prompt in a list. */
export const MEMORY_FIRST_LIMIT = 200;

/** The longest value of `agent.memory.key`, in bytes. */
export const MEMORY_KEY_LIMIT_BYTES = 512;
