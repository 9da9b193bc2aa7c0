/**
 * What the chart makes of values: its manifests, and what the operator makes of the environment that it is
 * given.
 */
import { parseAllDocuments, type Tags } from 'yaml';
import { readConfig } from '../../../operator/shared/config.ts';
import { type OperatorConfig } from '../../../operator/shared/config.ts';
import { CHART } from './chart.ts';
import { helm, type ClusterAccess } from './kubectl.ts';

/** Where the chart is installed. */
export const CHART_NAMESPACE = 'windlass-system';

type Container = {
  name: string;
  command?: string[];
  env?: { name: string; value?: string; valueFrom?: unknown }[];
  ports?: { name: string }[];
};
type PodSpec = { containers: Container[]; initContainers?: Container[]; tolerations?: object[] };

export type Manifest = {
  kind: string;
  metadata: { name: string; labels?: Record<string, string> };
  spec?: Record<string, unknown>;
  /** Of a ConfigMap. */
  data?: Record<string, string>;
};

/** Each takes further arguments of `helm template`, such as `--set`. */
export type RenderedChart = {
  render: (...settings: string[]) => Promise<string>;
  /** The caller's own copy. What is rendered and parsed, of each setting once. */
  manifests: (...settings: string[]) => Promise<Manifest[]>;
  find: (kind: string, name: string, ...settings: string[]) => Promise<Manifest | undefined>;
  /** The variables of the first container of that Deployment. */
  environmentOf: (name: string, ...settings: string[]) => Promise<Record<string, unknown>>;
  operatorConfigOf: (...settings: string[]) => Promise<OperatorConfig>;
};

/** `chart`: the folder of the chart, ours unless it is given. */
export function renderedChart(access: () => ClusterAccess, chart = CHART): RenderedChart {
  const rendered = new Map<string, Promise<Manifest[]>>();
  const where = ['-n', CHART_NAMESPACE, '--kube-version', '1.34'];
  const render: RenderedChart['render'] = (...settings) =>
    helm(access(), ['template', 'windlass', chart, ...where, ...settings]);
  const manifests: RenderedChart['manifests'] = async (...settings) => {
    const key = settings.join(' ');
    const parsed = rendered.get(key) ?? render(...settings).then(parseManifests);
    rendered.set(key, parsed);
    return structuredClone(await parsed);
  };
  const find: RenderedChart['find'] = async (kind, name, ...settings) => {
    const all = await manifests(...settings);
    return all.find((manifest) => manifest.kind === kind && manifest.metadata.name === name);
  };
  const environmentOf: RenderedChart['environmentOf'] = async (name, ...settings) => {
    const deployment = await find('Deployment', name, ...settings);
    const { env = [] } = (deployment && podSpecOf(deployment)?.containers[0]) ?? {};
    return Object.fromEntries(env.map((entry) => [entry.name, entry.value ?? entry.valueFrom]));
  };
  const operatorConfigOf: RenderedChart['operatorConfigOf'] = async (...settings) => {
    const environment = Object.entries(await environmentOf('windlass-operator', ...settings));
    const texts = environment.flatMap(([name, value]) => (typeof value === 'string' ? [[name, value]] : []));
    return readConfig(Object.fromEntries(texts) as Record<string, string>);
  };
  return { render, manifests, find, environmentOf, operatorConfigOf };
}

/**
 * The objects of a stream of YAML documents, without empty ones, as Helm and kubectl read them: 0440 is
 * octal, a time is text.
 */
function parseManifests(text: string): Manifest[] {
  const customTags = (tags: Tags) =>
    tags.filter((tag) => typeof tag === 'string' || !tag.tag.endsWith(':timestamp'));
  return parseAllDocuments(text, { version: '1.1', customTags })
    .map((document) => document.toJS() as Manifest | null)
    .filter((manifest) => manifest !== null);
}

/** The pods that a Deployment or the like makes; undefined for what makes none. */
export function podSpecOf(manifest: Manifest): PodSpec | undefined {
  return (manifest.spec?.template as { spec: PodSpec } | undefined)?.spec;
}
