import * as t from 'io-ts'
import { Codec, gather, refuse } from '../../kernel/codec/codec.js'
import { nullable, recordOf } from '../../kernel/codec/containers.js'
import { number } from '../../kernel/codec/leaves.js'
import { isJsonObject } from '../../kernel/json/json.js'
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

const values = recordOf(nullable(number))

type Metrics = Readonly<Record<string, number | null>>

/** Metrics as clients send them. Null is a number that JSON cannot represent, such as NaN. */
export const givenMetrics: Codec<Metrics> = new Codec<Metrics>(
  'metrics',
  (u): u is Metrics => values.is(u) && Object.keys(u).every(givenMetricName.is),
  (u, c) => {
    if (!isJsonObject(u)) return values.validate(u, c)
    const names = Object.keys(u)
    if (names.length > MOST_METRICS)
      return refuse(u, c, 'too_long', `Dictionary should have at most ${MOST_METRICS} items`)
    const errors: t.ValidationError[] = []
    for (const name of names)
      gather(errors, problemsOf(name, t.appendContext(c, name, givenMetricName, u[name])))
    return errors.length > 0 ? t.failures(errors) : values.validate(u, c)
  },
  {
    type: 'object',
    additionalProperties: { anyOf: [{ type: 'number' }, { type: 'null' }] },
    propertyNames: { minLength: 1, maxLength: 256 },
    maxProperties: MOST_METRICS,
  },
)

const problemsOf = (name: string, context: t.Context): t.Errors => {
  const result = givenMetricName.validate(name, context)
  return result._tag === 'Left' ? result.left : []
}

/** The finite metrics: drops nulls. */
export const toldMetrics = (given: Metrics): Readonly<Record<string, number>> =>
  Object.fromEntries(
    Object.entries(given).flatMap(([name, value]) => (value === null ? [] : [[name, value] as const])),
  )
