import { NOTHING, ownOf, type Call, type Trace, type Used } from './trace.js'

/** A trace as a table: its calls as a tree, what each used itself and with everything below it, and how it went. */
export const treeOf = (trace: Trace): string => {
  const rows = branches(trace, null, '').map(({ label, call }) => [
    label,
    ...cells(ownOf(trace, call)),
    ...cells(trace.inclusive.get(call.id) ?? NOTHING),
    call.summary.weave.status,
  ])
  const table = [['call', ...FIGURES, ...FIGURES, 'status'], ...rows]
  const widths = table[0]!.map((_, column) => Math.max(...table.map((row) => row[column]!.length)))
  const lines = table.map((row) =>
    row.map((cell, column) =>
      isText(column, row) ? cell.padEnd(widths[column]!) : cell.padStart(widths[column]!),
    ),
  )
  const [group, ...rest] = [headOf(widths), ...lines.map((cell) => cell.join('  ').trimEnd())]
  return [group, ...rest].join('\n')
}

const FIGURES = ['requests', 'prompt', 'completion', 'total']

const cells = ({ requests, prompt, completion, total }: Used): readonly string[] =>
  [requests, prompt, completion, total].map((figure) => (figure === 0 ? '·' : String(figure)))

const isText = (column: number, row: readonly string[]): boolean => column === 0 || column === row.length - 1

/** Says over the figures whose they are. */
const headOf = (widths: readonly number[]): string => {
  const widthOf = (from: number) =>
    widths.slice(from, from + FIGURES.length).reduce((sum, width) => sum + width + 2, -2)
  const centred = (text: string, width: number) => {
    const left = Math.floor((width - text.length - 2) / 2)
    return `${'─'.repeat(left)} ${text} ${'─'.repeat(width - text.length - 2 - left)}`
  }
  return [
    ' '.repeat(widths[0]!),
    centred('own', widthOf(1)),
    centred('with everything below', widthOf(1 + FIGURES.length)),
  ].join('  ')
}

interface Branch {
  readonly label: string
  readonly call: Call
}

const branches = (trace: Trace, parent: string | null, indent: string): readonly Branch[] => {
  const children = trace.calls
    .filter(({ parent_id }) => parent_id === parent)
    .toSorted((a, b) => (a.started_at < b.started_at ? -1 : a.started_at > b.started_at ? 1 : 0))
  return children.flatMap((call, index) => {
    const isLast = index === children.length - 1
    const [branch, below] = parent === null ? ['', ''] : isLast ? ['└─ ', '   '] : ['├─ ', '│  ']
    const label = `${indent}${branch}${call.summary.weave.trace_name}`
    return [{ label, call }, ...branches(trace, call.id, `${indent}${below}`)]
  })
}
