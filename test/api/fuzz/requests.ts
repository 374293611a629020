import fc from 'fast-check'
import type { JsonObject } from '../../../src/kernel/json/json.js'
import { arbitraryModestJson, arbitraryModestObject, troublesomeText } from '../../support/arbitrary-json.js'
import { arbitraryOfSchema } from '../../support/arbitrary-of-schema.js'
import type { Description, Parameter, Served } from './description.js'
import { knownIn } from './known.js'
import { HOME } from './places.js'
import { spoilt, spoiltText } from './spoilt.js'

type Key = 'member' | 'administrator' | 'none' | 'bad'

/** A request before what is remembered is put into it. */
export interface Planned {
  readonly operation: Served
  readonly method: string
  /** Values of the path's parameters; a Buffer stands in the path as it is. */
  readonly path: Readonly<Record<string, unknown>>
  readonly prefix: string
  readonly query: Readonly<Record<string, unknown>>
  readonly headers: Readonly<Record<string, string>>
  readonly key: Key
  readonly body?: Body
}

/** The text of a body is spoilt when the value is put in place; a form is written by its parts. */
type Body =
  | { readonly json: unknown; readonly spoiltBy?: number }
  | { readonly form: JsonObject; readonly boundary: string }

const seldom = <A>(usual: fc.Arbitrary<A>, odd: fc.Arbitrary<A>, oneIn = 15): fc.Arbitrary<A> =>
  fc.oneof({ weight: oneIn - 1, arbitrary: usual }, { weight: 1, arbitrary: odd })

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'HEAD', 'PROPFIND']

const ODD_HEADERS: readonly Readonly<Record<string, string>>[] = [
  ...[
    'text/plain',
    'application/xml',
    '',
    ';',
    'application/json; charset=latin1',
    'multipart/form-data',
  ].map((type) => ({ 'content-type': type })),
  ...['gzip', 'br', 'deflate', 'zstd', 'gzip, gzip'].map((coding) => ({ 'content-encoding': coding })),
  ...['-1', '1.5', 'x', '99999999999999999999999', '', '0x10', '0'].map((position) => ({
    'tallytree-min-position': position,
  })),
  ...['allow', 'ALLOW', ''].map((stale) => ({ 'tallytree-stale': stale })),
  ...['k', 'x'.repeat(255), 'x'.repeat(256), '', '\u00e9'].map((key) => ({ 'idempotency-key': key })),
  ...['*/*', 'text/html', 'x'.repeat(4000)].map((accept) => ({ accept })),
  { 'x-request-id': 'mine' },
  { 'tallytree-as-of': '1' },
  { expect: 'something' },
  { cookie: 'a=\u00ff' },
]

/** A position far ahead, for which a read waits until it gives up. */
const FAR_AHEAD = '4000000000'

export const waitsInVain = ({ headers }: Planned): boolean => headers['tallytree-min-position'] === FAR_AHEAD

const headersOf = fc.oneof(
  { weight: 500, arbitrary: fc.constant<Readonly<Record<string, string>>>({}) },
  { weight: 60, arbitrary: fc.constantFrom(...ODD_HEADERS) },
  { weight: 1, arbitrary: fc.constant({ 'tallytree-min-position': FAR_AHEAD }) },
)

const keys = fc.oneof(
  { weight: 40, arbitrary: fc.constant<Key>('member') },
  { weight: 20, arbitrary: fc.constant<Key>('administrator') },
  { weight: 1, arbitrary: fc.constantFrom<Key>('none', 'bad') },
)

/** For what a schema leaves open. */
export type OpenMeans = Pick<Parameters<typeof arbitraryOfSchema>[1], 'json' | 'jsonObject'>

const MODEST: OpenMeans = { json: arbitraryModestJson, jsonObject: arbitraryModestObject }

/** Requests to any operation, to those that take something away less often. */
export const requestsToAll = (
  operations: readonly Served[],
  description: Description,
  open: OpenMeans = MODEST,
): fc.Arbitrary<Planned> =>
  fc.oneof(
    ...operations.map((one) => ({
      weight: /delete|purge/i.test(`${one.method} ${one.template}`) ? 1 : 4,
      arbitrary: requestsTo(one, description, open),
    })),
  )

/** Requests to an operation: as described, and spoilt in one way or another. */
const requestsTo = (
  operation: Served,
  { components }: Description,
  open: OpenMeans,
): fc.Arbitrary<Planned> => {
  const { area } = operation
  const means = { ...open, longList: 50, components: components.schemas, known: knownIn(area) }
  const [entity, project] = HOME.split('/') as [string, string]
  const valueOf = ({ name, schema }: Parameter): fc.Arbitrary<unknown> => {
    if (name === 'entity') return seldom(fc.constant(entity), fc.constantFrom('strangers', 'default'))
    if (name === 'project') return fc.constant(project)
    return arbitraryOfSchema({ type: 'object', properties: { [name]: schema }, required: [name] }, means).map(
      (one) => (one as Record<string, unknown>)[name],
    )
  }
  const given = (where: Parameter['in']) => {
    const parameters = operation.parameters.filter((one) => one.in === where)
    return fc.record(Object.fromEntries(parameters.map((one) => [one.name, valueOf(one)])), {
      requiredKeys: parameters.filter(({ required }) => required).map(({ name }) => name),
    }) as fc.Arbitrary<Readonly<Record<string, unknown>>>
  }

  const oddPath = fc.dictionary(
    fc.constantFrom(...operation.parameters.filter((one) => one.in === 'path').map(({ name }) => name), 'x'),
    fc.oneof(
      troublesomeText(),
      fc.constantFrom('%', '%00', '%zz', '..', '%2f', '').map((raw) => Buffer.from(raw)),
    ),
  )

  return fc
    .record({
      method: seldom(fc.constant(operation.method), fc.constantFrom(...METHODS), 40),
      usualPath: given('path'),
      oddPath: seldom<object>(fc.constant({}), oddPath, 12),
      prefix: seldom(fc.constant(''), fc.constantFrom('/traces', '/', '/x')),
      query: given('query'),
      oddQuery: seldom<object>(
        fc.constant({}),
        fc.dictionary(
          fc.constantFrom('limit', 'after', 'project_id', 'a', '__proto__'),
          fc.oneof(troublesomeText(), fc.constantFrom<unknown>('0', '-1', '1e9', '1001', ['1', '2'])),
        ),
        5,
      ),
      headers: headersOf,
      key: keys,
      body: bodyOf(operation, means),
    })
    .map(({ usualPath, oddPath: other, oddQuery, query, body, ...rest }) => ({
      operation,
      ...rest,
      path: { ...usualPath, ...other },
      query: { ...query, ...oddQuery },
      ...(body === undefined ? {} : { body }),
    }))
}

const bodyOf = (
  { requestBody }: Served,
  means: Parameters<typeof arbitraryOfSchema>[1],
): fc.Arbitrary<Body | undefined> => {
  const [[type, { schema }] = ['', { schema: {} }]] = Object.entries(requestBody?.content ?? {})
  if (type === '') return seldom<Body | undefined>(fc.constant(undefined), fc.constant({ json: {} }))
  const value = arbitraryOfSchema(schema, means)
  if (type !== 'application/json')
    return fc.record({
      form: seldom(value, value.chain(spoilt), 3) as fc.Arbitrary<JsonObject>,
      boundary: seldom(fc.constant('x'), fc.constantFrom('', 'y', '"', 'x'.repeat(100))),
    })
  return fc.oneof(
    { weight: 50, arbitrary: value.map((json) => ({ json })) },
    { weight: 40, arbitrary: value.chain(spoilt).map((json) => ({ json })) },
    { weight: 8, arbitrary: fc.record({ json: value, spoiltBy: fc.nat() }) },
  )
}

/** The bytes of a JSON body; what is spoilt in the text follows from the number. */
export const bytesOf = (json: unknown, spoiltBy?: number): Buffer => {
  const text = json === undefined ? '' : JSON.stringify(json)
  if (spoiltBy === undefined) return Buffer.from(text)
  return fc.sample(spoiltText(text), { numRuns: 1, seed: spoiltBy })[0]!
}
