/** What the demo can show: every folder of `examples/`, with what it does to see it work. */
import { showBotAnswer } from './bots.ts';
import { showLongJob } from './callbacks.ts';
import {
  showEnvironments,
  showHello,
  showInvoice,
  showJob,
  showMailCount,
  showNewOrders,
  showNewsletter,
} from './calls.ts';
import { showEvaluation } from './evaluation.ts';
import { showMailReply, showMorningMail, showNightlyReport } from './mails.ts';
import { showOrder } from './order.ts';
import type { Demo } from './runs.ts';
import { showFileRows, showRowMail } from './sheets.ts';
import { showSupport } from './support.ts';
import { showMailTriage } from './triage.ts';

export type Example = {
  /** What is shown, in a line. */
  what: string;
  /** The credential that a person connects in the browser before it is ready. */
  connects?: string;
  /** True: it needs the S3 server. */
  s3?: boolean;
  show: (demo: Demo) => Promise<void>;
};

/** By the name of the folder. */
export const EXAMPLES: Readonly<Record<string, Example>> = {
  'order-confirmation': { what: 'an order at a webhook: model, mail, answer', show: showOrder },
  hello: { what: 'a workflow that is started by hand', show: showHello },
  'mail-count': { what: 'a webhook that asks an HTTP API', show: showMailCount },
  'new-orders': { what: 'a webhook whose items pass once', show: showNewOrders },
  invoices: { what: 'an order at a webhook: code makes an invoice, mail', show: showInvoice },
  newsletter: { what: 'a mail for each subscriber in a loop, and a summary', show: showNewsletter },
  'poll-a-job': { what: 'a job at an HTTP API, asked until it is done', show: showJob },
  environments: { what: 'one manifest for several environments, by variables', show: showEnvironments },
  'long-job': { what: 'an outside system calls back when its job is done', show: showLongJob },
  'refund-agent': { what: 'an agent is evaluated with two models', show: showEvaluation },
  'support-agent': {
    what: 'a chat with an agent that has tools and a memory',
    connects: 'orders',
    show: showSupport,
  },
  'mail-triage': {
    what: 'an agent sorts new mail, also one that tries to command it (up to two minutes)',
    show: showMailTriage,
  },
  'mail-reply': { what: 'a new mail is answered (up to two minutes)', show: showMailReply },
  'row-mail': {
    what: 'a mail for each new row of a spreadsheet (up to two minutes)',
    connects: 'sheets',
    show: showRowMail,
  },
  'file-rows': {
    what: 'a row in a spreadsheet for each new file (up to two minutes)',
    connects: 'table',
    s3: true,
    show: showFileRows,
  },
  'bot-answer': { what: 'a message to a bot is answered', show: showBotAnswer },
  'morning-mail': { what: 'a schedule sends a mail (up to two minutes)', show: showMorningMail },
  'nightly-report': {
    what: 'a schedule runs a workflow for each customer (up to two minutes)',
    show: showNightlyReport,
  },
};

/** Throws with the names that there are. */
export function exampleNamed(name: string): Example {
  const example = Object.hasOwn(EXAMPLES, name) ? EXAMPLES[name] : undefined;
  if (example) return example;
  throw new Error(`there is no example ${name}. Choose one of: ${Object.keys(EXAMPLES).join(', ')}`);
}

/** A line for each. */
export const listOfExamples = (): string =>
  Object.entries(EXAMPLES)
    .map(([name, { what }]) => `  ${name.padEnd(20)}${what}`)
    .join('\n');
