import { Checkbox } from '@mantine/core'
import { useElementScrollRestoration } from '@tanstack/react-router'
import { useVirtualizer } from '@tanstack/react-virtual'
import { useEffect, useRef, type MouseEvent } from 'react'
import { useKeys } from '../kit/keys.js'
import { usePlace } from '../kit/place.js'
import { Cell, Filler, HeadCell, hrefOf, type Row } from './call-cells.js'
import type { Column } from './list-columns.js'
import type { Selection } from './selection.js'

const SCROLL_ID = 'list'
const ROW_PX = 32
const BOX_PX = 32
/** With more columns only the cells in sight are mounted. */
const MANY_COLUMNS = 30

interface ListTableProps {
  readonly rows: readonly Row[]
  readonly columns: readonly Column[]
  /** The columns of fields, in the order of the cells of the rows. */
  readonly fields: readonly string[]
  readonly widths: ReadonlyMap<string, number>
  readonly setWidth: (name: string, width: number | undefined) => void
  readonly sort: string
  readonly onSort: (sort: string) => void
  readonly selection: Selection
  /** The id of the row that keys act on. */
  readonly current: string | undefined
  readonly setCurrent: (id: string | undefined) => void
  readonly onOpen: (row: Row | undefined, inNewTab?: boolean) => void
  /** The last rows are in sight. */
  readonly onEnd: () => void
  readonly isDimmed: boolean
}

/** The rows of a list of calls, of which only those in sight are mounted. */
export const ListTable = ({
  rows,
  columns,
  fields,
  widths,
  setWidth,
  sort,
  onSort,
  selection,
  current,
  setCurrent,
  onOpen,
  onEnd,
  isDimmed,
}: ListTableProps) => {
  const { team, project } = usePlace()
  const scroll = useRef<HTMLDivElement>(null)
  const before = useElementScrollRestoration({ id: SCROLL_ID })
  const widthOf = ({ name, width }: Column) => widths.get(name) ?? width
  const across = useVirtualizer({
    horizontal: true,
    enabled: columns.length > MANY_COLUMNS,
    initialRect: { width: innerWidth, height: 0 },
    count: columns.length,
    getScrollElement: () => scroll.current,
    estimateSize: (index) => widthOf(columns[index]!),
    overscan: 2,
  })
  const virtual = useVirtualizer({
    initialOffset: before?.scrollY ?? 0,
    count: rows.length,
    getScrollElement: () => scroll.current,
    estimateSize: () => ROW_PX,
    overscan: 8,
  })
  const items = virtual.getVirtualItems()
  const seen = across.getVirtualItems()
  const left = seen[0]?.index ?? 0
  const right = (seen.at(-1)?.index ?? columns.length - 1) + 1
  const last = items.at(-1)?.index ?? 0
  useEffect(() => {
    if (last >= rows.length - 15) onEnd()
  })
  const at = rows.findIndex(({ id }) => id === current)
  const move = (step: number) => {
    const next = Math.min(rows.length - 1, Math.max(0, at + step))
    setCurrent(rows[next]?.id)
    virtual.scrollToIndex(next)
  }
  useKeys({
    j: () => move(1),
    k: () => move(-1),
    x: () => selection.toggle(at),
    X: () => selection.toggle(at, true),
    Enter: () => onOpen(rows[at]),
    o: () => onOpen(rows[at], true),
  })
  const chosen = selection.rows.length
  return (
    <div
      className={`scroll ${isDimmed ? 'dimmed' : ''}`}
      ref={scroll}
      data-scroll-restoration-id={SCROLL_ID}
      style={{ flex: 1 }}
      tabIndex={-1}
    >
      <table
        className="table"
        style={{ minWidth: columns.reduce((sum, column) => sum + widthOf(column), BOX_PX) }}
      >
        <colgroup>
          <col style={{ width: BOX_PX }} />
          {columns.map(({ name, width, isFlexible }) => (
            <col key={name} style={{ width: widths.get(name) ?? (isFlexible ? undefined : width) }} />
          ))}
        </colgroup>
        <thead>
          <tr>
            <th scope="col">
              <Checkbox
                size="xs"
                aria-label="Select all rows shown"
                checked={chosen > 0 && chosen === rows.length}
                indeterminate={chosen > 0 && chosen < rows.length}
                onChange={(event) => selection.setAll(event.currentTarget.checked)}
              />
            </th>
            {columns.map((column) => (
              <HeadCell
                key={column.name}
                column={column}
                sort={sort}
                onSort={onSort}
                onResize={(width) => setWidth(column.name, width)}
              />
            ))}
          </tr>
        </thead>
        <tbody>
          <Filler height={items[0]?.start ?? 0} columns={columns.length + 1} />
          {items.map(({ index }) => {
            const row = rows[index]!
            return (
              <tr key={index} data-selected={index === at || undefined} onClick={() => setCurrent(row.id)}>
                <td>
                  <Checkbox
                    size="xs"
                    aria-label={`Select ${row.display_name ?? row.id}`}
                    checked={selection.has(row.id)}
                    readOnly
                    onClick={(event: MouseEvent) => selection.toggle(index, event.shiftKey)}
                  />
                </td>
                {left > 0 && <td colSpan={left} />}
                {columns.slice(left, right).map(({ name, isNumber }) => (
                  <td key={name} className={isNumber && 'number'}>
                    <Cell
                      column={name}
                      row={row}
                      value={row.cells[fields.indexOf(name)]}
                      href={hrefOf(team, project, row)}
                      onOpen={() => onOpen(row)}
                    />
                  </td>
                ))}
                {right < columns.length && <td colSpan={columns.length - right} />}
              </tr>
            )
          })}
          <Filler height={virtual.getTotalSize() - (items.at(-1)?.end ?? 0)} columns={columns.length + 1} />
        </tbody>
      </table>
    </div>
  )
}
