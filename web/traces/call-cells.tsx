import { useRef } from 'react'
import type { Schemas } from '../kit/api.js'
import { withAsOf } from '../kit/as-of.js'
import { duration, opName, wholeNumber } from '../kit/format.js'
import type { Column } from './list-columns.js'
import { Cost } from '../kit/cost.js'
import { Name } from '../kit/marked.js'
import { CallStatus } from '../kit/status.js'
import { Time } from '../kit/time.js'

export type Row = Schemas['CallRow']

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
  /** In pixels; undefined for the default. */
  readonly onResize: (width: number | undefined) => void
}

export const HeadCell = ({ column, sort, onSort, onResize }: HeadCellProps) => {
  const { label, sort: by, isNumber } = column
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
      <WidthHandle column={column} onResize={onResize} />
    </th>
  )
}

const STEP_PX = 16

const widthAt = (handle: Element): number => handle.closest('th')!.offsetWidth

/** Dragged or moved by arrow keys to change the width of a column; a double click resets it. */
const WidthHandle = ({ column: { label, width }, onResize }: Pick<HeadCellProps, 'column' | 'onResize'>) => {
  const grip = useRef<{ readonly x: number; readonly width: number }>(null)
  return (
    <span
      role="separator"
      tabIndex={0}
      className="width-handle"
      aria-label={`Width of ${label}`}
      aria-orientation="vertical"
      aria-valuenow={width}
      onDoubleClick={() => onResize(undefined)}
      onPointerDown={(event) => {
        event.currentTarget.setPointerCapture(event.pointerId)
        grip.current = { x: event.clientX, width: widthAt(event.currentTarget) }
      }}
      onPointerMove={(event) => {
        if (grip.current !== null) onResize(grip.current.width + event.clientX - grip.current.x)
      }}
      onLostPointerCapture={() => (grip.current = null)}
      onKeyDown={({ key, currentTarget }) => {
        if (key === 'ArrowLeft') onResize(widthAt(currentTarget) - STEP_PX)
        if (key === 'ArrowRight') onResize(widthAt(currentTarget) + STEP_PX)
      }}
    />
  )
}

interface CellProps {
  readonly column: string
  readonly row: Row
  /** Of a column of a field. */
  readonly value: string | null | undefined
  readonly href: string
  readonly onOpen: () => void
}

export const Cell = ({ column, row, value, href, onOpen }: CellProps) => {
  switch (column) {
    case 'status':
      return <CallStatus status={row.status} />
    case 'op':
      return (
        <a
          className="strong"
          href={withAsOf(href)}
          title={row.op_name}
          onClick={(event) => {
            if (event.ctrlKey || event.metaKey || event.shiftKey) return
            event.preventDefault()
            onOpen()
          }}
        >
          <Name text={row.display_name ?? opName(row.op_name)} />
        </a>
      )
    case 'input':
      return <Preview text={row.input} />
    case 'output':
      return row.exception === null ? (
        <Preview text={row.output === 'null' ? '' : row.output} />
      ) : (
        <span title={row.exception} style={{ color: 'var(--danger)' }}>
          <Name text={lastLine(row.exception)} />
        </span>
      )
    case 'duration':
      return row.duration_us === null ? '…' : duration(row.duration_us)
    case 'tokens':
      return row.tokens === 0 ? '—' : wholeNumber(row.tokens)
    case 'cost':
      return row.tokens === 0 && row.cost === 0 ? '—' : <Cost dollars={row.cost} unpriced={row.unpriced} />
    case 'calls':
      return row.calls == null ? '—' : wholeNumber(row.calls)
    case 'errors':
      return row.errors ? <span style={{ color: 'var(--danger)' }}>{wholeNumber(row.errors)}</span> : '—'
    case 'feedback':
      return <FeedbackCounts counts={row.feedback ?? {}} />
    case 'user':
      return row.user === null ? '—' : <Name text={row.user} />
    case 'started':
      return <Time at={row.started_us / 1000} />
    default:
      return value == null ? '—' : <Preview text={value} />
  }
}

const Preview = ({ text }: { readonly text: string }) => (
  <span title={text}>
    <Name text={text} />
  </span>
)

/** Reactions as their emojis, other feedback by the name within its type, such as `note` for `wandb.note.1`. */
const FeedbackCounts = ({ counts }: { readonly counts: Readonly<Record<string, number>> }) => {
  const text = Object.entries(counts)
    .map(([kind, count]) => `${kind.replace(/^wandb\.(?:runnable\.)?|\.1$/g, '')} ${count}`)
    .join(', ')
  return text === '' ? '—' : <span title={text}>{text}</span>
}

/** Python puts the error at the end of a traceback. */
const lastLine = (text: string): string =>
  text.startsWith('Traceback') ? (text.trimEnd().split('\n').at(-1) ?? text) : (text.split('\n')[0] ?? text)
