/** Sends a mail every working day. */
import { mail, type Template } from './template.ts';

export const morningMail: Template = {
  id: 'morning-mail',
  trigger: 'schedule',
  text: 'Sends a mail with the date every working day at 6:30.',
  needs: [mail],
  spec: {
    displayName: 'Morning mail',
    active: false,
    nodes: [
      {
        id: 'trigger',
        schedule: {
          cron: '30 6 * * 1-5',
          timeZone: 'Europe/Berlin',
          testData: {
            text_content: '2026-01-05T05:30:00Z',
            data_content: {
              scheduled_time: '2026-01-05T05:30:00Z',
              fired_time: '2026-01-05T05:30:01.2Z',
              time_zone: 'Europe/Berlin',
            },
          },
        },
      },
      {
        id: 'day',
        skill: {
          name: 'set',
          parameters: { values: { date: 'nodes.trigger.data_content.scheduled_time.substring(0, 10)' } },
        },
      },
      {
        id: 'mail',
        skill: {
          name: 'send_email',
          credential: 'mail',
          parameters: {
            to: 'team@example.com',
            subject: "Good morning: {{ $('day').data_content.date }}",
            body: "It was sent for {{ $('trigger').text_content }}.",
          },
        },
      },
    ],
  },
};
