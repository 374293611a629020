import type { Schemas } from '../api.js'
import { duration, opName, wholeNumber } from '../format.js'
import { Cost } from './cost.js'
import { CallStatus } from './status.js'
import { Time } from './time.js'

export type Row = Schemas['CallRow']

export interface Column {
  readonly name: string
  readonly label: string
  readonly width: number
  readonly sort?: string
  readonly isNumber?: true
}

export const COLUMNS: readonly Column[] = [
  { name: 'status', label: 'Status', width: 104 },
  { name: 'op', label: 'Op', width: 160 },
  { name: 'input', label: 'Input', width: 220 },
  { name: 'output', label: 'Output', width: 220 },
  { name: 'duration', label: 'Duration', width: 92, sort: 'summary.weave.latency_ms', isNumber: true },
  { name: 'tokens', label: 'Tokens', width: 88, sort: 'usage.total_tokens', isNumber: true },
  { name: 'cost', label: 'Cost', width: 108, sort: 'usage.total_cost', isNumber: true },
  { name: 'user', label: 'User', width: 84 },
  { name: 'started', label: 'Started', width: 112, sort: 'started_at' },
]

export const hrefOf = (team: string, project: string, { trace_id, id, parent_id }: Row): string =>
  `/${team}/${project}/traces/${encodeURIComponent(trace_id)}` +
  (parent_id === null ? '' : `?call=${encodeURIComponent(id)}`)

export const Filler = ({ height, columns }: { readonly height: number; readonly columns: number }) =>
  height <= 0 ? null : (
    <tr aria-hidden="true">
      <td colSpan={columns} style={{ height, padding: 0, border: 0 }} />
    </tr>
  )

interface HeadCellProps {
  readonly column: Column
  readonly sort: string
  readonly onSort: (sort: string) => void
}

export const HeadCell = ({ column: { label, sort: by, isNumber }, sort, onSort }: HeadCellProps) => {
  const direction =
    by === undefined ? undefined : sort === by ? 'ascending' : sort === `-${by}` ? 'descending' : undefined
  return (
    <th scope="col" className={isNumber && 'number'} aria-sort={direction} title={label}>
      {by === undefined ? (
        label
      ) : (
        <button type="button" onClick={() => onSort(direction === 'descending' ? by : `-${by}`)}>
          {label}
          {direction === undefined ? '' : direction === 'ascending' ? ' ↑' : ' ↓'}
        </button>
      )}
    </th>
  )
}

interface CellProps {
  readonly column: string
  readonly row: Row
  readonly href: string
  readonly onOpen: () => void
}

export const Cell = ({ column, row, href, onOpen }: CellProps) => {
  switch (column) {
    case 'status':
      return <CallStatus status={row.status} />
    case 'op':
      return (
        <a
          className="strong"
          href={href}
          title={row.op_name}
          onClick={(event) => {
            if (event.ctrlKey || event.metaKey || event.shiftKey) return
            event.preventDefault()
            onOpen()
          }}
        >
          {row.display_name ?? opName(row.op_name)}
        </a>
      )
    case 'input':
      return <span title={row.input}>{row.input}</span>
    case 'output':
      return row.exception === null ? (
        <span title={row.output}>{row.output === 'null' ? '' : row.output}</span>
      ) : (
        <span title={row.exception} style={{ color: 'var(--danger)' }}>
          {lastLine(row.exception)}
        </span>
      )
    case 'duration':
      return row.duration_us === null ? '…' : duration(row.duration_us)
    case 'tokens':
      return row.tokens === 0 ? '—' : wholeNumber(row.tokens)
    case 'cost':
      return row.tokens === 0 && row.cost === 0 ? '—' : <Cost dollars={row.cost} unpriced={row.unpriced} />
    case 'user':
      return row.user ?? '—'
    default:
      return <Time at={row.started_us / 1000} />
  }
}

/** Python puts the error at the end of a traceback. */
const lastLine = (text: string): string =>
  text.startsWith('Traceback') ? (text.trimEnd().split('\n').at(-1) ?? text) : (text.split('\n')[0] ?? text)
