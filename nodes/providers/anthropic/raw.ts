/**
 * Blocks of an answer that a later request repeats as they came: signed thinking, in its place among texts
 * and tool calls.
 */
import * as z from 'zod';

const text = z.string().transform((value) => value.toWellFormed());

const rawSchema = z.object({
  anthropic: z.array(
    z.discriminatedUnion('type', [
      z.object({ type: z.literal('thinking'), thinking: text, signature: text }),
      z.object({ type: z.literal('redacted_thinking'), data: text }),
      z.object({ type: z.literal('text'), text: z.string().min(1).pipe(text) }),
      /** Stands for the tool call with this position in the message. */
      z.object({ type: z.literal('tool_use'), call: z.int().min(0) }),
    ]),
  ),
});

export type RawBlock = z.infer<typeof rawSchema>['anthropic'][number];

/** The blocks that this provider wrote; undefined for a message without such. */
export function rawBlocks(raw: unknown): RawBlock[] | undefined {
  return rawSchema.safeParse(raw).data?.anthropic;
}

/** What a message keeps; undefined where texts and tool calls are all that came. */
export function rawOf(blocks: readonly RawBlock[]): { anthropic: RawBlock[] } | undefined {
  const hasThinking = blocks.some(({ type }) => type === 'thinking' || type === 'redacted_thinking');
  if (!hasThinking) return undefined;
  return { anthropic: blocks.filter((block) => block.type !== 'text' || block.text !== '') };
}
