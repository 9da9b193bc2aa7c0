/** The graph of a template as a small drawing. The text of the template says what it shows. */
import type { NodeKind } from '../../api/workflow.ts';
import { isTriggerName } from './kinds.ts';
import type { Drawing, DrawnNode } from './template.ts';
import classes from './templates.module.css';

export function TemplateDrawing({ drawing, isLarge = false }: { drawing: Drawing; isLarge?: boolean }) {
  const { width, height, nodes, lines } = drawing;
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
          <text className={classes['label']} x={node.x + node.width / 2} y={labelY(node)}>
            {node.label}
          </text>
        </g>
      ))}
    </svg>
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
