import type * as t from 'io-ts'
import { arrayOf, nullable } from '../../../kernel/codec/containers.js'
import { string } from '../../../kernel/codec/leaves.js'
import { open } from '../../../kernel/codec/struct.js'
import { id, projectId, teamName } from '../../../kernel/ids.js'
import type { RecordedEvent } from '../../../kernel/ports/event-store.js'
import { callStream } from '../../calls/call.js'
import { moneyText } from '../../prices/decimal.js'

export const UNKNOWN_COSTS_WRITTEN_OFF = 'UnknownCostsWrittenOff'

export const unknownCostsWrittenOff = open(UNKNOWN_COSTS_WRITTEN_OFF, {
  says:
    'The reserved costs of completions with unknown usage were written off: they no longer count in budgets. At most ' +
    '1,000 completions an event.',
  required: {
    team: teamName,
    calls: arrayOf(open('WrittenOffCall', { required: { project_id: projectId, id, amount: moneyText } })),
  },
  optional: { reason: nullable(string) },
})
export type UnknownCostsWrittenOff = t.TypeOf<typeof unknownCostsWrittenOff>

const MAX_CALLS = 1000

/** One event for each 1,000 calls. */
export const writeOffs = ({ calls, ...rest }: UnknownCostsWrittenOff): readonly UnknownCostsWrittenOff[] =>
  Array.from({ length: Math.ceil(calls.length / MAX_CALLS) }, (_, index) => ({
    ...rest,
    calls: calls.slice(index * MAX_CALLS, (index + 1) * MAX_CALLS),
  }))

/** Streams of the calls whose costs an event writes off. */
export const writtenOffIn = ({ type, data }: RecordedEvent): readonly string[] =>
  type === UNKNOWN_COSTS_WRITTEN_OFF && unknownCostsWrittenOff.is(data)
    ? data.calls.map((call) => callStream(call.project_id, call.id))
    : []
