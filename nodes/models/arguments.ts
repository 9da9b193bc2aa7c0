import { parseJson } from '../../api/json.ts';
import { isRecord } from '../../api/record.ts';
import type { ModelToolCall } from '../contract/model.ts';

/**
 * The arguments of a tool call as an object, for a later request. Broken ones are left out, since servers
 * refuse them; the result of the call tells the model about them.
 */
export function argumentsOf(call: ModelToolCall): Record<string, unknown> {
  const parsed = parseJson(call.arguments);
  return parsed.ok && isRecord(parsed.value) ? parsed.value : {};
}
