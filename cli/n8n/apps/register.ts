/** Nodes of services, as calls of skills and requests to their APIs. */
import type { Draft } from '../steps/items.ts';
import type { NodeContext } from '../steps/context.ts';
import { convertDrive } from './googleDrive.ts';
import { convertSheets } from './googleSheets.ts';
import { convertEmail } from './email.ts';
import { convertGmail } from './gmail.ts';
import { convertSlack } from './slack.ts';
import { convertTelegram } from './telegram.ts';
import { convertSupabase } from './supabase.ts';
import { convertFacebook } from './facebook.ts';
import { convertAirtable } from './airtable.ts';
import { convertNotion } from './notion.ts';
import { convertRest, hasRest } from './rest.ts';

type App = (context: NodeContext) => Draft;

const APPS: Record<string, App> = {
  telegram: convertTelegram,
  slack: convertSlack,
  emailSend: convertEmail,
  gmail: convertGmail,
  googleSheets: convertSheets,
  googleDrive: convertDrive,
  airtable: convertAirtable,
  notion: convertNotion,
  supabase: convertSupabase,
  facebookGraphApi: convertFacebook,
};

/** Whether nodes of the service are converted. */
export const hasApp = (name: string): boolean => Object.hasOwn(APPS, name) || hasRest(name);

/** Converts the operation of the node. Throws if that has no counterpart. */
export function convertApp(context: NodeContext): Draft {
  const name = context.node.type.split('.').at(-1) ?? '';
  const app = Object.hasOwn(APPS, name) ? APPS[name] : undefined;
  return app ? app(context) : convertRest(context, name);
}
