/** The graph of a template as a small drawing. The text of the template says what it shows. */
import type { NodeKind, WorkflowNode } from '../../api/workflow.ts';
import { nodeIcon } from './nodeIcons.tsx';
import { isTriggerName } from './kinds.ts';
import type { DrawnNode, Template } from './template.ts';
import classes from './templates.module.css';

type Props = { template: Template; isLarge?: boolean };

/** A small drawing has icons: words would be too small to read. */
export function TemplateDrawing({ template, isLarge = false }: Props) {
  const { width, height, nodes, lines } = template.drawing;
  // A drawing of few nodes is not larger than the others.
  const maxWidth = (width + 16) * (isLarge ? 0.8 : 0.6);
  return (
    <svg
      className={classes['drawing']}
      viewBox={`-8 -8 ${width + 16} ${height + 16}`}
      data-large={isLarge || undefined}
      style={{ maxWidth }}
      aria-hidden
      focusable="false"
    >
      {lines.map(([from, to]) => (
        <path key={`${from}-${to}`} className={classes['line']} d={lineOf(nodes[from], nodes[to])} />
      ))}
      {nodes.map((node, index) => (
        <g key={index}>
          <rect
            className={classes['node']}
            data-frame={node.isFrame || undefined}
            x={node.x}
            y={node.y}
            width={node.width}
            height={node.height}
            rx={isTriggerName(node.kind) ? node.height / 2 : 10}
            style={{ stroke: `var(--mantine-color-${colorOf(node.kind)}-5)` }}
          />
          {isLarge ? (
            <text className={classes['label']} x={node.x + node.width / 2} y={labelY(node)}>
              {node.label}
            </text>
          ) : (
            <SmallIcon node={node} of={template.spec.nodes[index]} />
          )}
        </g>
      ))}
    </svg>
  );
}

const ICON = 44;

function SmallIcon({ node, of }: { node: DrawnNode; of: WorkflowNode | undefined }) {
  if (of === undefined || node.isFrame) return null;
  const Icon = nodeIcon(of);
  const [x, y] = [node.x + (node.width - ICON) / 2, node.y + (node.height - ICON) / 2];
  return (
    <g className={classes['icon']} transform={`translate(${x} ${y})`}>
      <Icon size={ICON} />
    </g>
  );
}

function labelY({ y, height, isFrame }: DrawnNode): number {
  return isFrame ? y + 28 : y + height / 2 + 8;
}

function lineOf(from: DrawnNode | undefined, to: DrawnNode | undefined): string {
  if (from === undefined || to === undefined) return '';
  const [x1, y1, x2, y2] = [from.x + from.width, from.y + from.height / 2, to.x, to.y + to.height / 2];
  const middle = (x1 + x2) / 2;
  return `M ${x1} ${y1} C ${middle} ${y1}, ${middle} ${y2}, ${x2} ${y2}`;
}

const COLORS: Partial<Record<NodeKind, string>> = { agent: 'violet', response: 'green', fail: 'red' };

function colorOf(kind: NodeKind): string {
  return isTriggerName(kind) ? 'orange' : (COLORS[kind] ?? 'cyan');
}
