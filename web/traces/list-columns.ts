export interface Column {
  readonly name: string
  readonly label: string
  /** In pixels. */
  readonly width: number
  /** Takes the space that is left, at least its width. */
  readonly isFlexible?: true
  readonly sort?: string
  readonly isNumber?: true
  /** Counted for the list only where it is shown. */
  readonly figure?: 'calls' | 'errors' | 'feedback'
  /** Read as a field of the calls, only where it is shown. */
  readonly isField?: true
  /** Not among the default columns. */
  readonly isExtra?: true
}

const COLUMNS: readonly Column[] = [
  { name: 'status', label: 'Status', width: 110 },
  { name: 'op', label: 'Op', width: 140 },
  { name: 'input', label: 'Input', width: 116, isFlexible: true },
  { name: 'output', label: 'Output', width: 116, isFlexible: true },
  { name: 'duration', label: 'Duration', width: 84, sort: 'summary.weave.latency_ms', isNumber: true },
  { name: 'tokens', label: 'Tokens', width: 80, sort: 'usage.total_tokens', isNumber: true },
  { name: 'cost', label: 'Cost', width: 96, sort: 'usage.total_cost', isNumber: true },
  { name: 'calls', label: 'Calls', width: 76, isNumber: true, figure: 'calls', isExtra: true },
  { name: 'errors', label: 'Errors', width: 76, isNumber: true, figure: 'errors', isExtra: true },
  { name: 'feedback', label: 'Feedback', width: 120, figure: 'feedback', isExtra: true },
  { name: 'end_user', label: 'End user', width: 88, sort: 'end_user', isField: true },
  { name: 'user', label: 'User', width: 84, isExtra: true },
  { name: 'started', label: 'Started', width: 130, sort: 'started_at' },
]

const BY_NAME: ReadonlyMap<string, Column> = new Map(COLUMNS.map((column) => [column.name, column]))

/** Has the link to the trace, so it is always shown. */
export const OP = 'op'

export const LIST_COLUMNS: readonly string[] = COLUMNS.map(({ name }) => name)

export const DEFAULT_COLUMNS: readonly string[] = COLUMNS.filter(({ isExtra }) => isExtra !== true).map(
  ({ name }) => name,
)

/** A column of the list itself, or of a field of the calls. */
export const columnOf = (name: string): Column =>
  BY_NAME.get(name) ?? { name, label: name, width: 160, sort: name }

export const isField = (name: string): boolean => BY_NAME.get(name)?.isField ?? !BY_NAME.has(name)

/** The names of the columns in an address, in their order. */
export const columnsIn = (text: string): readonly string[] => {
  const names = [...new Set(text.split(',').map(decoded).filter(Boolean))]
  if (names.length === 0) return DEFAULT_COLUMNS
  return names.includes(OP) ? names : [OP, ...names]
}

/** Names of columns for an address: '' for the default ones. */
export const printColumns = (names: readonly string[]): string =>
  names.join('\n') === DEFAULT_COLUMNS.join('\n')
    ? ''
    : names.map((name) => name.replaceAll('%', '%25').replaceAll(',', '%2C')).join(',')

const decoded = (name: string): string => name.replaceAll('%2C', ',').replaceAll('%25', '%')

/** The names with one moved by a number of places. */
export const withMoved = (names: readonly string[], name: string, by: number): readonly string[] => {
  const from = names.indexOf(name)
  const rest = names.filter((one) => one !== name)
  return rest.toSpliced(Math.max(0, from + by), 0, name)
}
