/** The calls of an agent in memory, in place of a runner. */
import { StepError } from '../../../api/reasons.ts';
import type { TranscriptEntry } from '../../../api/transcript.ts';
import type { AgentCalls, PerformedCall, StepContext } from '../../../nodes/contract/node.ts';

export type TestCalls = AgentCalls & {
  stored: Map<string, string>;
  performed: PerformedCall[];
  transcript: () => readonly TranscriptEntry[];
};

/** `timesOut`: the effect keys of calls that end with their timeout. */
export function agentCalls(
  context: StepContext,
  { stored = new Map<string, string>(), attempt = 1, timesOut = [] as readonly string[] } = {},
): TestCalls {
  const performed: PerformedCall[] = [];
  let transcript: readonly TranscriptEntry[] = [];
  return {
    stored,
    attempt,
    signal: context.signal,
    performed,
    transcript: () => transcript,
    effectKeyOf: (of) => `step/${of}`,
    store: async (entries) => {
      for (const [key, value] of entries) stored.set(key, value);
    },
    perform: async (call, work) => {
      performed.push(call);
      if (timesOut.includes(call.effectKey)) throw new StepError('Timeout', 'the tool took too long');
      return work({ ...context, ...call });
    },
    report: (entries) => {
      transcript = entries;
    },
  };
}
