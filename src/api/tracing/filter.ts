import type * as t from 'io-ts'
import { arrayOf, nullable } from '../../domain/codec/containers.js'
import { boolean, string } from '../../domain/codec/leaves.js'
import { closed } from '../../domain/codec/struct.js'
import { Failure } from '../failure.js'

const values = nullable(arrayOf(string))

/** Which calls are meant (spec 2.3). */
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

/** Keys whose values are limited, as the real servers limit them. */
const LIMITED = ['call_ids', 'op_names', 'input_refs', 'output_refs', 'parent_ids', 'trace_ids'] as const

export const requireFewValues = (filter: CallsFilter | null): void => {
  for (const key of LIMITED)
    if ((filter?.[key]?.length ?? 0) > MAX_VALUES)
      throw new Failure(
        'bad-request',
        `filter.${key} has more than ${MAX_VALUES} values. Ask in several requests.`,
      )
}
