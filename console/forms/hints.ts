/**
 * What the schemas cannot say of a field: that its text is CEL or may hold references, or which part of the project it names. Keys are
 * paths of fields; those of a skill begin with its name.
 */
import type { Editor } from './fields.ts';

type Hint = { editor?: Editor; isExpression?: boolean; label?: string };

const HINTS: Record<string, Hint> = {
  'schedule.cron': { editor: { kind: 'cron' } },
  'schedule.timeZone': { editor: { kind: 'timeZone' } },
  'webhook.auth.none': { label: 'Public (no authentication)' },
  'mail.credential': { editor: { kind: 'credential', kinds: ['imap', 'oauth2'] } },
  'spreadsheet.credential': { editor: { kind: 'credential', kinds: ['oauth2'] } },
  'fileStorage.credential': { editor: { kind: 'credential', kinds: ['s3', 'oauth2'] } },
  'bot.credential': { editor: { kind: 'credential', kinds: ['bot'] } },
  'agent.credential': { editor: { kind: 'credential', kinds: ['openai'] } },
  'agent.model': { editor: { kind: 'model' }, isExpression: true },
  'agent.systemPrompt': { isExpression: true },
  'agent.prompt': { isExpression: true },
  'agent.tools': { editor: { kind: 'tools' } },
  'skill.name': { editor: { kind: 'skill' }, label: 'Skill' },
  'response.headers': { isExpression: true },
  'response.body': { isExpression: true },
  'options.forEach': { isExpression: true },
  'workflow.description': { editor: { kind: 'longText' } },
  'set.values': { editor: { kind: 'celValues' } },
};

/** The hint for a field, if there is one. */
export function hintOf(path: string): Hint | undefined {
  return HINTS[path];
}

/** The paths that hints are for. */
export const HINTED: readonly string[] = Object.keys(HINTS);
