import { readFileSync } from 'node:fs'
import { scoreFeedbackOf, type RowCalls } from '../../../../src/domain/evaluations/rows-of-calls.js'
import { roleOf, type EvaluationCall } from '../../../../src/domain/evaluations/run-calls.js'
import type { Json } from '../../../../src/kernel/json/json.js'

export interface RecordedRun {
  readonly calls: readonly EvaluationCall[]
  readonly feedback: readonly Readonly<Record<string, Json>>[]
}

/** What the service held after `test/e2e/programs/evaluating.mjs` and `logging-an-evaluation.mjs` had run. */
export const recordedRun = (name: 'npm-evaluation' | 'npm-evaluation-logger'): RecordedRun =>
  JSON.parse(readFileSync(new URL(`./recorded/${name}.json`, import.meta.url), 'utf8')) as RecordedRun

export const rowsIn = ({ calls, feedback }: RecordedRun): readonly RowCalls[] =>
  calls
    .filter((call) => roleOf(call) === 'row')
    .map((row) => {
      const children = calls.filter(({ parent_id }) => parent_id === row.id)
      const isOn = (ref: Json | undefined) =>
        children.some(({ id }) => typeof ref === 'string' && ref.endsWith(`/call/${id}`))
      return {
        row,
        children,
        feedback: feedback
          .filter(({ weave_ref }) => isOn(weave_ref))
          .map(scoreFeedbackOf)
          .filter((one) => one !== undefined),
      }
    })
