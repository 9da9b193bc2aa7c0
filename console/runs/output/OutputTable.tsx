/** A list of objects as a virtual table. Cells can be dragged into a field. */
import { Select } from '@mantine/core';
import { useVirtualizer } from '@tanstack/react-virtual';
import { useRef, useState } from 'react';
import { dragReference, referenceOf, shortText, type OutputTable as Data } from './outputTree.ts';
import classes from './Output.module.css';

const ROW = 28;
const TALLEST = 420;
const CELL = 200;

type Props = { tables: Data[]; nodeId: string; item?: number | undefined };

export function OutputTable({ tables, nodeId, item }: Props) {
  const [label, setLabel] = useState(tables[0]?.label);
  const table = tables.find((one) => one.label === label) ?? tables[0];
  if (table === undefined) return null;
  return (
    <>
      {tables.length > 1 && (
        <Select
          aria-label="List"
          data={tables.map((one) => one.label)}
          value={table.label}
          onChange={(next) => setLabel(next ?? undefined)}
          allowDeselect={false}
          mb={6}
          maw={320}
        />
      )}
      <Rows key={table.label} table={table} nodeId={nodeId} item={item} />
    </>
  );
}

function Rows({ table, nodeId, item }: Omit<Props, 'tables'> & { table: Data }) {
  const { rows, columns, member, path, label } = table;
  const box = useRef<HTMLDivElement>(null);
  const { getVirtualItems, getTotalSize } = useVirtualizer({
    count: rows.length,
    getScrollElement: () => box.current,
    estimateSize: () => ROW,
    overscan: 10,
  });
  const grid = { gridTemplateColumns: `56px repeat(${columns.length}, minmax(110px, 1fr))` };
  return (
    <div
      ref={box}
      role="table"
      aria-label={label}
      aria-rowcount={rows.length + 1}
      tabIndex={0}
      className={classes['table'] ?? ''}
      style={{ height: Math.min(TALLEST, (rows.length + 1) * ROW + 2) }}
    >
      <div role="row" aria-rowindex={1} className={classes['head'] ?? ''} style={grid}>
        <span role="columnheader">#</span>
        {columns.map((column) => (
          <span role="columnheader" key={column} title={column}>
            {column}
          </span>
        ))}
      </div>
      <div style={{ height: getTotalSize(), position: 'relative' }}>
        {getVirtualItems().map(({ index, start }) => (
          <div
            key={index}
            role="row"
            aria-rowindex={index + 2}
            className={classes['line'] ?? ''}
            style={{ ...grid, transform: `translateY(${start}px)` }}
          >
            <span role="cell">{index}</span>
            {columns.map((column) => {
              const text = shortText(rows[index]?.[column] ?? '').slice(0, CELL);
              return (
                <span
                  role="cell"
                  key={column}
                  title={text}
                  draggable
                  onDragStart={(event) =>
                    dragReference(
                      event,
                      referenceOf(nodeId, { member, path: [...path, index, column] }, item),
                    )
                  }
                >
                  {text}
                </span>
              );
            })}
          </div>
        ))}
      </div>
    </div>
  );
}
