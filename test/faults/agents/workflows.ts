/** The project of a scene: a chat whose agent has three tools, and the workflow that one of them runs. */
import { stringify } from 'yaml';

export const AGENT = 'support';
export const CHILD = 'refund';
/** What a request may use of output: a reservation is never less. */
export const MOST_OUTPUT = 300;
/** What the model says that an answered request used. */
export const USED = 12;

export type Limits = { run: number; day: number };
/** Far above what a scene needs. */
export const WIDE: Limits = { run: 40_000, day: 400_000 };

/** Where the tools and the model are. */
type Places = { modelURL: string; httpURL: string; smtpPort: number };

const apiVersion = 'windlass.dev/v1alpha1';

/** Everything that the project of the scene needs. */
export function agentManifest(
  scene: string,
  { modelURL, httpURL, smtpPort }: Places,
  { limits, isMemoryShared }: { limits: Limits; isMemoryShared?: boolean | undefined },
): string {
  const call = (name: string) => ({ method: 'POST', url: `${httpURL}/${name}`, body: { scene } });
  const credential = (name: string, spec: object) => ({
    apiVersion,
    kind: 'Credential',
    metadata: { name },
    spec,
  });
  const smtp = { host: '127.0.0.1', port: smtpPort, tls: 'None', from: 'shop@example.com' };
  return [
    { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'model' }, stringData: { key: 'secret' } },
    credential('llm', { openai: { baseURL: modelURL, apiKeyRef: { name: 'model', key: 'key' } } }),
    credential('smtp', { smtp }),
    workflow(AGENT, true, supportNodes(scene, call, isMemoryShared ? 'all' : SESSION), {
      run: { tokens: limits.run },
      day: { tokens: limits.day },
    }),
    workflow(CHILD, false, [
      { id: 'trigger', manual: { inputSchema: { type: 'object', properties: {} } } },
      { id: 'pause', wait: { duration: '2s' } },
      { id: 'pay', skill: { name: 'http_request', parameters: call('refund') } },
    ]),
  ]
    .map((object) => stringify(object))
    .join('---\n');
}

function workflow(name: string, active: boolean, nodes: object[], budget?: object): object {
  const spec = { active, nodes, history: { succeeded: 100, failed: 100 }, ...(budget && { budget }) };
  return { apiVersion, kind: 'Workflow', metadata: { name }, spec };
}

const SESSION = "{{ $('trigger').data_content.session }}";

function supportNodes(scene: string, call: (name: string) => object, key: string): object[] {
  const mail = { to: `${scene}@example.com`, subject: scene };
  return [
    { id: 'trigger', chat: { access: 'Public', answer: AGENT } },
    {
      id: AGENT,
      agent: {
        credential: 'llm',
        model: 'demo',
        prompt: "{{ $('trigger').text_content }}",
        maxTokens: MOST_OUTPUT,
        memory: { key },
        tools: [
          { name: 'lookup', skill: 'http_request', parameters: call('lookup') },
          { name: 'mail', skill: 'send_email', credential: 'smtp', effect: 'AtMostOnce', parameters: mail },
          { name: 'refund', workflow: CHILD },
        ],
      },
    },
    { id: 'after', skill: { name: 'http_request', parameters: call('after') } },
  ];
}
