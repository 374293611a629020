import assert from 'node:assert/strict'
import fc from 'fast-check'
import { spansInJson } from '../../../../src/api/otel/json-request.js'
import { dumpOf, spanOfDump } from '../../../../src/application/otel/dump.js'
import { encodeSpan, requestText, type WholeSpan } from '../../../../src/domain/otel/encode.js'
import { setDouble, setMember, setWhole } from '../../../../src/api/otel/values.js'
import type { Json, JsonObject } from '../../../../src/kernel/json/json.js'
import { parseJson } from '../../../../src/kernel/json/parse.js'
import { canonicalJson } from '../../../../src/kernel/json/canonical.js'

type Put = (into: object, key: string | number) => void

const text = fc.string({ maxLength: 8, unit: 'grapheme' })

const { value } = fc.letrec<{ value: Put }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    text.map(
      (one): Put =>
        (into, key) =>
          setMember(into, key, one),
    ),
    fc.boolean().map(
      (one): Put =>
        (into, key) =>
          setMember(into, key, one),
    ),
    fc.constant<Put>((into, key) => setMember(into, key, null)),
    fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map(
      (one): Put =>
        (into, key) =>
          setWhole(into, key, one),
    ),
    fc.integer().map(
      (one): Put =>
        (into, key) =>
          setWhole(into, key, BigInt(one)),
    ),
    fc.integer().map(
      (one): Put =>
        (into, key) =>
          setDouble(into, key, one),
    ),
    fc.double({ noNaN: true, noDefaultInfinity: true }).map(
      (one): Put =>
        (into, key) =>
          setDouble(into, key, one),
    ),
    fc.constant<Put>((into, key) => setDouble(into, key, -0)),
    fc.array(tie('value'), { maxLength: 3 }).map((puts): Put => (into, key) => {
      const list: Json[] = []
      for (const [at, put] of puts.entries()) put(list, (list.push(null), at))
      setMember(into, key, list)
    }),
    fc
      .uniqueArray(fc.tuple(text, tie('value')), { maxLength: 3, selector: ([key]) => key })
      .map((pairs): Put => (into, key) => {
        setMember(into, key, objectOf(pairs))
      }),
  ),
}))

const objectOf = (pairs: readonly (readonly [string, Put])[]): JsonObject => {
  const object: JsonObject = {}
  for (const [key, put] of pairs) put(object, key)
  return object
}

const attributes = fc
  .uniqueArray(fc.tuple(text, value), { maxLength: 4, selector: ([key]) => key })
  .map(objectOf)
const time = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n })
const count = fc.nat({ max: 0xffffffff })
const hex = (length: number) =>
  fc.string({
    unit: fc.integer({ min: 0, max: 15 }).map((digit) => digit.toString(16)),
    minLength: length,
    maxLength: length,
  })
const described = { attributes, droppedAttributes: count }
const spanContext = { traceId: hex(32), spanId: hex(16), traceState: text }

const span = fc.record({
  ...spanContext,
  ...described,
  parentSpanId: fc.oneof(
    fc.constant(''),
    hex(15).map((digits) => `${digits}1`),
  ),
  flags: count,
  name: text,
  kind: fc.nat({ max: 9 }),
  start: time,
  end: time,
  events: fc.array(fc.record({ time, name: text, ...described }), { maxLength: 2 }),
  droppedEvents: count,
  links: fc.array(fc.record({ ...spanContext, flags: count, ...described }), { maxLength: 2 }),
  droppedLinks: count,
  status: fc.record({ code: fc.nat({ max: 4 }), message: text }),
})

const whole = fc.record<WholeSpan>({
  span,
  scope: fc.record({ name: text, version: text, ...described, schemaUrl: text }),
  resource: fc.record({ ...described, schemaUrl: text }),
})

/** With the digits that doubles don't have. */
const inFull = ({ span: { start, end, events, ...rest }, scope, resource }: WholeSpan) =>
  canonicalJson([
    { ...rest, start: String(start), end: String(end) },
    events.map(({ time: at, ...event }) => ({ ...event, time: String(at) })),
    scope,
    resource,
  ] as unknown as Json)

describe('a span that is sent again', () => {
  it('is read by a receiver as it was', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(whole, { maxLength: 5 }), async (spans) => {
        const read = await spansInJson(parseJson(requestText(spans.map(encodeSpan))))
        assert.deepEqual(
          read.map((one) => inFull(one as WholeSpan)),
          spans.map(inFull),
        )
      }),
    )
  })

  it('is the one that its dump was made of', () => {
    fc.assert(
      fc.property(whole, (one) => {
        assert.equal(inFull(spanOfDump(dumpOf(one.span, one.scope, one.resource))), inFull(one))
      }),
    )
  })

  it('shares its resource and scope with its neighbours', () => {
    const bare = { attributes: {}, droppedAttributes: 0, schemaUrl: '' }
    const [first] = fc.sample(span, { numRuns: 1, seed: 1 })
    const one = { span: first!, scope: { name: 'a', version: '', ...bare }, resource: bare }
    const other = { ...one, scope: { ...one.scope, name: 'b' } }
    const request = JSON.parse(requestText([one, one, other].map(encodeSpan))) as {
      readonly resourceSpans: readonly {
        readonly scopeSpans: readonly { readonly spans: readonly object[] }[]
      }[]
    }
    assert.deepEqual(
      request.resourceSpans.map(({ scopeSpans }) => scopeSpans.map(({ spans }) => spans.length)),
      [[2, 1]],
    )
  })
})
