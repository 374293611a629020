import type { Schemas } from '../kit/api.js'
import { opName } from '../kit/format.js'

/** The calls of a trace as columns. */
export type TraceColumns = Schemas['TraceColumns']

export const statusOf = ({ status_names, statuses }: TraceColumns, row: number): string =>
  status_names[statuses[row]!] ?? ''

export const nameOf = ({ display_names, op_names, ops, ids }: TraceColumns, row: number): string =>
  display_names[ids[row]!] ?? opName(op_names[ops[row]!] ?? '')
