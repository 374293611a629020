import { erasedText } from '../erased-content.js'
import { withDigitsOf } from '../../kernel/json/digits.js'
import { isJsonObject, type Json, type JsonObject } from '../../kernel/json/json.js'

type Members = Readonly<Record<string, readonly string[]>>

/** Attributes that usage, budgets and evaluations are computed from. */
const FIGURES_OF_ATTRIBUTES: Members = {
  weave: ['source', 'client_version', 'evaluation_run', 'evaluation_run_id', 'prediction', 'score'],
  _weave_eval_meta: ['score'],
  tallytree: [
    ...['model', 'kind', 'instance', 'key_id', 'admitted_at', 'deadline_at', 'reserved', 'price'],
    ...['evaluation_run_id', 'evaluation_rule_id'],
  ],
}

const FIGURES_OF_SUMMARY: Members = { tallytree: ['metering', 'owed', 'price', 'latency_ms', 'cancelled'] }

/**
 * What an erasure leaves of the data of a call's event: ids, names, times, model, usage, costs and status. Undefined for events
 * without content. Erasing again changes nothing. `summary` must not be spilled.
 */
export const erasedCallData = (type: string, data: JsonObject): JsonObject | undefined => {
  switch (type) {
    case 'CallStarted':
      return marked(data, { ...ofStart(data), end: exceptionErased(data['end']) })
    case 'CallEnded':
      return marked(data, ofEnd(data))
    case 'ConflictingCallStartReported':
      return marked(data, { start: partly(data['start'], ofStart) })
    case 'ConflictingCallEndReported':
      return marked(data, { end: partly(data['end'], ofEnd) })
    default:
      return undefined
  }
}

const marked = (data: JsonObject, left: JsonObject): JsonObject =>
  withDigitsOf(data, { ...data, ...left, erased: true })

const ofStart = ({ attributes }: JsonObject): JsonObject => ({
  attributes: withMark(figuresIn(attributes, FIGURES_OF_ATTRIBUTES)),
  inputs: {},
  otel_dump: null,
  spilled: {},
})

const ofEnd = (end: JsonObject): JsonObject => ({
  output: null,
  summary: withMark({
    ...pick(end['summary'], ['usage', 'status_counts']),
    ...figuresIn(end['summary'], FIGURES_OF_SUMMARY),
  }),
  exception: erasedText(end['exception']),
  spilled: {},
})

const exceptionErased = (end: Json | undefined): Json =>
  partly(end, ({ exception }) => ({ exception: erasedText(exception) }))

const partly = (value: Json | undefined, left: (value: JsonObject) => JsonObject): Json =>
  isJsonObject(value) ? withDigitsOf(value, { ...value, ...left(value) }) : (value ?? null)

/** Readers see that content was erased, in place of missing content. */
const withMark = (figures: JsonObject): JsonObject => {
  const own = isJsonObject(figures['tallytree']) ? figures['tallytree'] : {}
  return { ...figures, tallytree: withDigitsOf(own, { ...own, erased: true }) }
}

const figuresIn = (value: Json | undefined, members: Members): JsonObject =>
  Object.fromEntries(
    Object.entries(members)
      .map(([name, kept]) => [name, pick(isJsonObject(value) ? value[name] : undefined, kept)] as const)
      .filter(([, kept]) => Object.keys(kept).length > 0),
  )

const pick = (value: Json | undefined, names: readonly string[]): JsonObject =>
  isJsonObject(value)
    ? withDigitsOf(
        value,
        Object.fromEntries(
          names.filter((name) => value[name] !== undefined).map((name) => [name, value[name]!]),
        ),
      )
    : {}
