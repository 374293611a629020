import fc from 'fast-check'
import type { Known } from '../support/described/arbitrary-of-schema.js'
import type { Operation } from '../support/described/description.js'

type Headers = Record<string, string>

/** A log position behind the end of every log. */
export const UNREACHED = '9223372036854775807'

/** Some of the headers that an operation takes, with values that make sense. */
export const describedHeaders = ({ parameters }: Operation, known: Known): fc.Arbitrary<Headers> => {
  const named = parameters.filter((one) => one.in === 'header')
  const values = named.map(({ name, schema }) => {
    const words = Array.isArray(schema['enum']) ? (schema['enum'] as string[]) : undefined
    // A position that nobody has reached yet would be waited for.
    const reached = (known('position') ?? fc.constant('0')).map((one) => (/^\d+$/.test(one) ? one : '0'))
    const value =
      words === undefined ? (schema['type'] === 'integer' ? reached : aKey) : fc.constantFrom(...words)
    return fc.option(value, { freq: 4 }).map((one): Headers => (one === null ? {} : { [name]: one }))
  })
  return fc.tuple(...values).map((each) => Object.assign({}, ...each) as Headers)
}

const aKey = fc.constantFrom('one', 'another', 'key with spaces', 'x'.repeat(255))

/** Headers as no client of ours would send them; what HTTP itself forbids is left to other tests. */
export const anyHeaders: fc.Arbitrary<Headers> = fc
  .array(
    fc.constantFrom<Headers>(
      ...['x', '-1', '', '1.5', '0x10', '1e3', '\u00b9', '1,2', ' 1'].map((value) => ({
        'Tallytree-Min-Position': value,
      })),
      { 'Tallytree-Stale': 'perhaps' },
      { 'Tallytree-As-Of': '1' },
      { 'Tallytree-Min-Position': UNREACHED, 'Tallytree-Stale': 'allow' },
      { 'Idempotency-Key': '' },
      { 'Idempotency-Key': 'x'.repeat(3000) },
      { 'Idempotency-Key': '\u00e9\u00ff' },
      { 'X-Weave-Retry-Id': 'retry' },
      { accept: 'image/png' },
      { 'accept-encoding': 'br;q=0, *' },
      { expect: 'nothing' },
      { 'content-language': 'x'.repeat(5000) },
      { 'x-request-id': 'mine' },
      { 'x-http-method-override': 'DELETE' },
      { cookie: 'a=b; __proto__=c' },
      { range: 'bytes=5-1' },
      { 'if-none-match': '*' },
      { 'x-forwarded-for': '"' },
    ),
    { minLength: 1, maxLength: 3 },
  )
  .map((each) => Object.assign({}, ...each) as Headers)

/** No key, or none that anybody has. */
export const badKey: fc.Arbitrary<Headers> = fc.constantFrom<Headers>(
  {},
  ...[
    ...[
      '',
      'Bearer',
      'Bearer ',
      'Bearer unknown-key',
      'Basic',
      'Basic !!!',
      'Basic YXBpOg==',
      'Basic OnVua25vd24=',
    ],
    ...['Digest a="b"', 'bearer  a b', `Bearer ${'x'.repeat(5000)}`, 'Bearer \u00e9', 'Negotiate', '\u00ff'],
  ].map((authorization) => ({ authorization })),
)
