import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib'
import fc from 'fast-check'
import type { Json } from '../../src/domain/json/json.js'
import { arbitraryOfSchema, type Known } from '../support/described/arbitrary-of-schema.js'
import type { Description, Operation } from '../support/described/description.js'
import type { Ask, Kind } from './ask.js'
import { FORM_TYPE, formOf } from './forms.js'
import { anyHeaders, badKey, describedHeaders } from './headers.js'
import { placeOf } from './places.js'
import { broken, spoilt } from './spoil.js'

export interface World {
  readonly description: Description
  readonly operations: readonly Operation[]
  readonly known: Known
  /** Projects that the keys of insiders may use. */
  readonly projects: readonly string[]
  readonly insiders: readonly string[]
  /** The key of somebody who may use none of the projects. */
  readonly outsider: string
}

const WEIGHTS: Readonly<Record<Kind, number>> = {
  valid: 46,
  spoilt: 28,
  broken: 6,
  type: 3,
  encoding: 3,
  method: 3,
  header: 4,
  path: 4,
  key: 3,
  outsider: 6,
}

interface Sent {
  readonly said: Json | undefined
  readonly body: Buffer | undefined
}

/** Requests to every operation of a description, good and bad. */
export const arbitraryAsk = (world: World): fc.Arbitrary<Ask> =>
  fc.oneof(...world.projects.map((project) => asksAbout(world, project)))

const asksAbout = (
  { description, operations, known: anyKnown, insiders, outsider }: World,
  project: string,
) => {
  const { schemas } = description.components
  const itself = fc.constant(project)
  const mostly = fc.oneof(
    { weight: 12, arbitrary: itself },
    { weight: 1, arbitrary: anyKnown('project_id') ?? itself },
  )
  const known: Known = (key) => (key === 'project_id' ? mostly : anyKnown(key))
  const valueOf = arbitraryOfSchema(schemas, known)
  const foreignValueOf = arbitraryOfSchema(schemas, (key) => (key === 'project_id' ? itself : undefined))
  const place = placeOf(schemas, known, project)

  const written = ({ body }: Operation, said: Json | undefined): Sent => {
    if (body === undefined || said === undefined) return { said, body: undefined }
    if (body.type !== 'multipart/form-data') return { said, body: Buffer.from(JSON.stringify(said)) }
    const ref = body.schema['$ref']
    return {
      said,
      body: formOf(said, typeof ref === 'string' ? schemas[ref.split('/').at(-1)!]! : body.schema),
    }
  }

  const bodies = ({ body }: Operation, of: typeof valueOf): fc.Arbitrary<Json | undefined> =>
    body === undefined ? fc.constant(undefined) : of(body.schema)

  const sentIn = (kind: Kind, operation: Operation): fc.Arbitrary<Sent> => {
    const good = bodies(operation, kind === 'outsider' ? foreignValueOf : valueOf)
    if (kind === 'spoilt')
      return good.chain((said) => spoilt(said ?? {})).map((said) => written(operation, said))
    if (kind === 'broken')
      return good
        .chain((said) => broken(JSON.stringify(said ?? {})))
        .map((text) => ({ said: undefined, body: Buffer.from(text) }))
    return good.map((said) => written(operation, said))
  }

  const typeOf = (kind: Kind, { body }: Operation): fc.Arbitrary<Record<string, string>> => {
    if (kind === 'type') return fc.constantFrom(...OTHER_TYPES).map(withType)
    if (body === undefined) return fc.constant({})
    return fc.constant(withType(body.type === 'multipart/form-data' ? FORM_TYPE : body.type))
  }

  const keyed = (kind: Kind): fc.Arbitrary<Record<string, string>> => {
    if (kind === 'key') return badKey
    const keys = kind === 'outsider' ? [outsider] : insiders
    return fc.constantFrom(...keys).map((key) => ({ authorization: `Bearer ${key}` }))
  }

  const asked = (kind: Kind, operation: Operation): fc.Arbitrary<Ask> =>
    fc
      .tuple(
        sentIn(kind, operation),
        place(operation, kind === 'path'),
        kind === 'method' ? fc.constantFrom(...METHODS) : fc.constant(operation.method),
        fc.tuple(
          describedHeaders(operation, known),
          typeOf(kind, operation),
          kind === 'header' ? anyHeaders : fc.constant({}),
          keyed(kind),
        ),
        kind === 'encoding' ? fc.constantFrom(...ENCODINGS) : fc.constant(undefined),
      )
      .map(([{ said, body }, path, method, headers, encoding]) => {
        const all = Object.assign({}, ...headers) as Record<string, string>
        if (encoding === undefined || body === undefined)
          return { kind, operation, method, path, headers: all, body, said }
        const [name, encode] = encoding
        return {
          kind,
          operation,
          method,
          path,
          headers: { ...all, 'content-encoding': name },
          body: encode(body),
          said,
        }
      })

  const kinds = Object.entries(WEIGHTS) as [Kind, number][]
  return fc.oneof(
    ...kinds.map(([kind, weight]) => ({
      weight,
      arbitrary: fc.oneof(...operations.map((operation) => asked(kind, operation))),
    })),
  )
}

const withType = (type: string): Record<string, string> => (type === '' ? {} : { 'content-type': type })

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'HEAD']

const OTHER_TYPES = [
  ...[
    '',
    'text/plain',
    'application/xml',
    'application/x-www-form-urlencoded',
    'multipart/form-data',
    ';',
    'json',
  ],
  ...['application/json; charset=utf-16', 'application/vnd.api+json', 'multipart/form-data; boundary='],
  ...['multipart/form-data; boundary=other', `multipart/mixed; boundary=${'x'.repeat(200)}`],
]

const asIs = (body: Buffer): Buffer => body

const ENCODINGS: readonly (readonly [string, (body: Buffer) => Buffer])[] = [
  ['gzip', (body) => gzipSync(body)],
  ['deflate', (body) => deflateSync(body)],
  ['br', (body) => brotliCompressSync(body)],
  ['gzip', (body) => gzipSync(body).subarray(0, -9)],
  ...['gzip', 'br', 'zstd', 'identity', 'gzip, gzip', ''].map((name) => [name, asIs] as const),
]
