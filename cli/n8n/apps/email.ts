/** Send Email (SMTP). */
import { convertCall } from '../steps/call.ts';
import { memberOf, textOf } from '../model/json.ts';
import type { Draft } from '../steps/items.ts';
import type { NodeContext } from '../steps/context.ts';
import { type Value, code, constant, toJavaScript, valueOf } from '../expressions/value.ts';
import { filled } from './parameters.ts';

/** Within text, a reference in HTML is shown as text: n8n writes the values of expressions as HTML. */
const asWritten = (html: Value): Value =>
  html.kind === 'text' && html.parts.length > 1 ? code(toJavaScript(html)) : html;

export function convertEmail(context: NodeContext): Draft {
  const { parameters } = context;
  if (textOf(parameters['operation'], 'send') !== 'send')
    throw new Error('a mail that waits for an answer has no counterpart: use wait with a callback');
  const html =
    filled(parameters['html']) ??
    (textOf(parameters['emailFormat'], 'html') === 'html' ? filled(parameters['message']) : undefined);
  if (textOf(parameters['attachments'] ?? memberOf(parameters, 'options.attachments')) !== '')
    context.note('review', 'attachments are left out');
  context.note('converted', 'the sender is from of the Credential');
  return convertCall(context, {
    skill: 'send_email',
    credential: context.credential(['smtp']),
    parameters: {
      to: valueOf(textOf(parameters['toEmail']) || 'replace-me@example.com'),
      cc: filled(parameters['ccEmail'] ?? memberOf(parameters, 'options.ccEmail')),
      bcc: filled(parameters['bccEmail'] ?? memberOf(parameters, 'options.bccEmail')),
      replyTo: filled(memberOf(parameters, 'options.replyTo')),
      ...(textOf(parameters['toEmail']).includes(',') && { multipleRecipients: constant(true) }),
      subject: valueOf(textOf(parameters['subject']) || '-'),
      body: filled(parameters['text']) ?? (html ? constant('This mail is HTML.') : constant('-')),
      html: html && asWritten(html),
    },
    items: (r) => `[{ messageId: ${r}.message_id }]`,
  });
}
