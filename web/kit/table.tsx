import type { ReactNode } from 'react'

export interface Column<Row> {
  /** '' for a column of buttons. */
  readonly label: string
  /** In place of the label, such as a box that selects all rows. */
  readonly head?: ReactNode
  readonly cell: (row: Row) => ReactNode
  /** In pixels; the other columns share what is left. */
  readonly width?: number
  readonly isNumber?: boolean
}

/** What a column without a width gets at least. */
const MIN_PX = 160

/** A table with a header that stays in place; it scrolls sideways where its columns do not fit. */
export const Table = <Row,>({
  label,
  columns,
  rows,
  keyOf,
  selected,
  isTall = false,
}: {
  readonly label: string
  readonly columns: readonly Column<Row>[]
  readonly rows: readonly Row[]
  readonly keyOf: (row: Row) => string
  readonly selected?: string | undefined
  /** Whether cells have two lines. */
  readonly isTall?: boolean
}) => (
  <div className="scroll">
    <table
      className={isTall ? 'table tall' : 'table'}
      style={{ minWidth: columns.reduce((sum, { width = MIN_PX }) => sum + width, 0) }}
      aria-label={label}
    >
      <thead>
        <tr>
          {columns.map(({ label: of, head, width, isNumber }, n) => (
            <th key={n} scope="col" className={isNumber === true ? 'number' : undefined} style={{ width }}>
              {head ?? (of === '' ? <span className="visually-hidden">Actions</span> : of)}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={keyOf(row)} data-selected={keyOf(row) === selected || undefined}>
            {columns.map(({ cell, label: of, isNumber }, n) => (
              <td key={n} className={isNumber === true || of === '' ? 'number' : undefined}>
                {cell(row)}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  </div>
)
