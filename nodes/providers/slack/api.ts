/**
 * Addresses and errors of Slack's Web API (https://docs.slack.dev/apis/web-api), which answers 200 also where
 * it refuses.
 */

export const SLACK_URL = 'https://slack.com/api';

/** What an error of a method is about. */
export type SlackProblem = 'limit' | 'outage' | 'expired' | 'scope' | 'token' | 'request';

const LIMIT = /^(ratelimited|rate_limited|message_limit_exceeded)$/;
/** "It's possible some aspect of the operation succeeded before the error was raised." */
const OUTAGE = /^(fatal_error|internal_error|service_unavailable|request_timeout|team_added_to_org)$/;
const TOKEN =
  /^(not_authed|invalid_auth|account_inactive|token_revoked|no_permission|access_denied|not_allowed_token_type|ekm_access_denied|org_login_required)$/;

export function problemOf(error: string): SlackProblem {
  if (LIMIT.test(error)) return 'limit';
  if (OUTAGE.test(error)) return 'outage';
  if (error === 'token_expired') return 'expired';
  if (error === 'missing_scope') return 'scope';
  return TOKEN.test(error) ? 'token' : 'request';
}
