import type * as t from 'io-ts'
import { arrayOf, nullable } from '../../kernel/codec/containers.js'
import { boolean, string } from '../../kernel/codec/leaves.js'
import { closed } from '../../kernel/codec/struct.js'
import { Failure } from '../failure.js'

const values = nullable(arrayOf(string))

export const callsFilter = closed('CallsFilter', {
  optional: {
    op_names: values,
    input_refs: values,
    output_refs: values,
    parent_ids: values,
    trace_ids: values,
    call_ids: values,
    thread_ids: values,
    turn_ids: values,
    trace_roots_only: nullable(boolean),
    wb_user_ids: values,
    wb_run_ids: values,
  },
})
export type CallsFilter = t.TypeOf<typeof callsFilter>

const MAX_VALUES = 1000

/** Keys with limited numbers of values, as on the original servers. */
const LIMITED = ['call_ids', 'op_names', 'input_refs', 'output_refs', 'parent_ids', 'trace_ids'] as const

/** Refuses a filter with too many or too long values. */
export const requireBoundedFilter = (filter: CallsFilter | null): void => {
  if (filter === null) return
  for (const key of LIMITED)
    if ((filter[key]?.length ?? 0) > MAX_VALUES)
      throw new Failure(
        'bad-request',
        `filter.${key} has more than ${MAX_VALUES} values. Split it into several requests.`,
      )
  requireBoundedValues(
    Object.values(filter).flatMap((value) => (Array.isArray(value) ? (value as string[]) : [])),
  )
}

/** The values are part of the SQL statement and cost parsing time. */
const MAX_CHARACTERS = 4_194_304
const MAX_LISTED = 100_000

export const requireBoundedValues = (values: readonly string[], name = 'filter'): void => {
  if (values.length > MAX_LISTED)
    throw new Failure(
      'too-large',
      `${name} should have at most ${MAX_LISTED} values. Split it into several requests.`,
    )
  let characters = 0
  for (const value of values) characters += value.length
  if (characters > MAX_CHARACTERS)
    throw new Failure(
      'too-large',
      `The values of ${name} should have at most ${MAX_CHARACTERS} characters together. Split them into several requests.`,
    )
}
