/** The templates for new workflows: those of `examples/`, with placeholder hosts and credentials. */
import { askAnApi } from './askAnApi.ts';
import { botAnswer } from './botAnswer.ts';
import { fileRows } from './fileRows.ts';
import { hello } from './hello.ts';
import { mailReply } from './mailReply.ts';
import { morningMail } from './morningMail.ts';
import { orderConfirmation } from './orderConfirmation.ts';
import { rowMail } from './rowMail.ts';
import type { Template } from './template.ts';

export const TEMPLATES: readonly Template[] = [
  hello,
  orderConfirmation,
  mailReply,
  botAnswer,
  rowMail,
  fileRows,
  morningMail,
  askAnApi,
];
