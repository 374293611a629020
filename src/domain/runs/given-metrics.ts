import * as t from 'io-ts'
import { Codec, gather, refuse } from '../../kernel/codec/codec.js'
import { jsonObject, number } from '../../kernel/codec/leaves.js'
import { isJsonObject, type Json } from '../../kernel/json/json.js'
import { metricName } from './events.js'

const MOST_METRICS = 1000

/** A non-empty metric name. Only input is checked: older logs may have automations on an empty name. */
export const givenMetricName: Codec<string> = new Codec<string>(
  'string',
  (u): u is string => u !== '' && metricName.is(u),
  (u, c) =>
    u === ''
      ? refuse(u, c, 'string_too_short', 'The name should have at least 1 character')
      : metricName.validate(u, c),
  { ...metricName.schema, minLength: 1 },
  'unchanged',
)

type Metrics = Readonly<Record<string, Json>>

/** Metrics as clients send them, with any values, see {@link numbersIn}. */
export const givenMetrics: Codec<Metrics> = new Codec<Metrics>(
  'metrics',
  (u): u is Metrics => isJsonObject(u) && Object.keys(u).every(givenMetricName.is),
  (u, c) => {
    if (!isJsonObject(u)) return jsonObject.validate(u, c)
    const names = Object.keys(u)
    if (names.length > MOST_METRICS)
      return refuse(u, c, 'too_long', `Dictionary should have at most ${MOST_METRICS} items`)
    const errors: t.ValidationError[] = []
    for (const name of names)
      gather(errors, problemsOf(name, t.appendContext(c, name, givenMetricName, u[name])))
    return errors.length > 0 ? t.failures(errors) : t.success(u)
  },
  {
    type: 'object',
    additionalProperties: {},
    propertyNames: { minLength: 1, maxLength: 256 },
    maxProperties: MOST_METRICS,
  },
)

const problemsOf = (name: string, context: t.Context): t.Errors => {
  const result = givenMetricName.validate(name, context)
  return result._tag === 'Left' ? result.left : []
}

/** The metrics that are numbers, and the names of the others: one bad value does not lose its neighbours. */
export const numbersIn = (given: Metrics) => {
  const entries = Object.entries(given)
  return {
    metrics: Object.fromEntries(
      entries.flatMap(([name, value]) => (number.is(value) ? [[name, value] as const] : [])),
    ),
    others: entries.flatMap(([name, value]) => (number.is(value) ? [] : [name])),
  }
}
